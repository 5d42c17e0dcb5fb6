"""What all peers share: their options, their rows and the JSON document on stdout. A peer brings one function,

    load(threads) -> Library      imports its packages, which may raise ImportError

A library that is not installed or cannot do a case makes `skipped` rows with the reason, never an error.
"""
import collections.abc
import dataclasses
import importlib
import json
import os
import sys

import rows
import work

# They pin libraries to instruction sets or kernels of somebody's choice, sometimes far slower ones than the library would take for this
# processor. A peer is measured at its best, so they go before any library is loaded.
PINNING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_VERBOSE", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "ATEN_CPU_CAPABILITY",
           "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES")
OWN_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
NUMPY_THREADS = ("OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Unsupported(Exception):
    """A library's way of saying that it cannot do a case; the message is the row's reason."""


Function = collections.abc.Callable


@dataclasses.dataclass
class Body:
    """One prepared computation."""
    run: Function                       # run(buffer number) -> result; this is what is timed
    output: Function                    # of a result: array (batch, heads, seq_q, head_dim_v), for scores (batch, heads, seq_q, seq_k)
    kernel: str | None                  # what the library says it runs, or what it was told to
    materialises: bool | None = None    # whether all scores stand in memory at once; None where the library does not tell
    symmetric: bool = False             # scores of Q with itself
    context: Function | None = None     # makes a context manager that is entered around each sample


@dataclasses.dataclass
class Library:
    versions: dict       # {"torch": "2.15.0"}
    isa: str | None      # as the library calls it; None where it does not tell
    prepare: Function    # prepare(case, algorithm name, buffers) -> Body, or raises Unsupported; a buffer is (q, k, v)


def set_environment(name, threads):
    """To be called before any library is loaded. NumPy checks the other peers' outputs; a spinning pool of its own would disturb them."""
    for variable in PINNING:
        os.environ.pop(variable, None)
    for variable in OWN_THREADS:
        os.environ[variable] = str(threads)
    for variable in NUMPY_THREADS:
        os.environ[variable] = str(threads if name == "numpy" else 1)


def run_peer(name, load):
    """The main program of a peer. Exit code: 0; 1 where a row failed; 2 for wrong use."""
    args = _parse(name)
    cases = args.cases
    set_environment(name, args.threads)
    algorithms = [a for a in rows.PEERS[name].algorithms if args.protocol in (None, a.protocol)]
    try:
        library = load(args.threads)
        measuring = importlib.import_module("measuring")
    except ImportError as error:
        missing = f"cannot be loaded: {error}"
        found = [rows.row_of(c, a, args.threads, args.seed) | {"status": "skipped", "reason": missing} for c in cases for a in algorithms]
        _print_document(args, {}, found)
        return 0
    found = []
    for case in cases:
        print(f"{name}: {describe(case)}", file=sys.stderr)
        found += measuring.measure_case(library, case, algorithms, args)
    _print_document(args, library.versions, found)
    return 1 if any(row["status"] in ("failed", "error") for row in found) else 0


def describe(case):
    mask = ", causal" if case.causal else ""
    heads = f"{case.heads}" if case.heads == case.kv_heads else f"{case.heads}/{case.kv_heads}"
    batch = f", batch {case.batch}" if case.batch > 1 else ""
    return f"{case.dtype}, {case.seq_q} x {case.seq_k}, d {case.head_dim}, d_v {case.head_dim_v}, heads {heads}{batch}{mask}"


def _parse(name):
    parser = work.Parser(prog=f"{name}_peer", description=f"Times {name} on attention problems; writes JSON as `attn timing-sweep` does.")
    work.add_options(parser)
    args = parser.parse_args()
    try:
        args.cases = work.cases(args)
    except ValueError as error:
        parser.error(str(error))
    return args


def _print_document(args, versions, found):
    import facts

    context = facts.context(args.threads, versions)
    document = {"schema_version": rows.SCHEMA_VERSION, "context": context, "args": work.as_json(args), "results": found}
    json.dump(document, sys.stdout, indent=1, allow_nan=False)
    print()
