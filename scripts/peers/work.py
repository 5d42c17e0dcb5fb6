"""What is to be timed: sizes as `attn timing-sweep` takes them, and the cases that they multiply out to. Standard library only.

    4,16,64      these three                  1..1000x10   geometric: 1 10 100 1000
    512..4096    doubling: 512 1024 2048 4096  10..50+20    arithmetic: 10 30 50          4k  4096

The end point of a range belongs to it when it is hit. Several lists multiply; the first named varies slowest.
"""
import argparse
import dataclasses
import itertools
import math
import os
import pathlib
import re
import sys

LARGEST = 2**63 - 1
LONGEST_LIST = 1_000_000
AXES = ("dtype", "batch", "heads", "kv_heads", "d", "d_v", "n", "n_k")  # slowest first, unless named in another order
SUFFIXES = {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20}


@dataclasses.dataclass(frozen=True)
class Case:
    """One attention problem: q (batch, heads, seq_q, head_dim), k and v (batch, kv_heads, seq_k, head_dim or head_dim_v)."""
    dtype: str
    batch: int
    heads: int
    kv_heads: int
    seq_q: int
    seq_k: int
    head_dim: int
    head_dim_v: int
    causal: bool  # query i sees the keys j <= i; with as many keys as queries only, as libraries align other masks differently

    @property
    def item_bytes(self):
        return {"f32": 4, "f64": 8}[self.dtype]

    @property
    def visible_pairs(self):
        """Pairs of query and key that take part, in all heads of the batch."""
        pairs = self.seq_q * (self.seq_q + 1) // 2 if self.causal else self.seq_q * self.seq_k
        return self.batch * self.heads * pairs

    @property
    def scores_bytes(self):
        return self.batch * self.heads * self.seq_q * self.seq_k * self.item_bytes

    @property
    def query_and_key_bytes(self):
        return self.batch * (self.heads * self.seq_q + self.kv_heads * self.seq_k) * self.head_dim * self.item_bytes

    @property
    def value_bytes(self):
        return self.batch * self.kv_heads * self.seq_k * self.head_dim_v * self.item_bytes

    @property
    def output_bytes(self):
        return self.batch * self.heads * self.seq_q * self.head_dim_v * self.item_bytes


def parse_size(text, least=1):
    match = re.fullmatch(r"([0-9]+)([kKM]?)", text)
    value = int(match[1]) * SUFFIXES[match[2]] if match else -1
    if not least <= value <= LARGEST:
        raise argparse.ArgumentTypeError(f"expected a whole number of {least} or more, found '{text}'")
    return value


def _range(piece):
    match = re.fullmatch(r"([^.]+)\.\.([^.x+]+)(?:([x+])(.+))?", piece)
    if not match:
        raise argparse.ArgumentTypeError(f"expected a range with both ends, such as 512..4096, found '{piece}'")
    first, last = parse_size(match[1]), parse_size(match[2])
    multiplies, amount = match[3] != "+", parse_size(match[4]) if match[4] else 2
    if multiplies and amount < 2:
        raise argparse.ArgumentTypeError(f"expected a range that ends (a factor of 2 or more), found '{piece}'")
    if first > last:
        raise argparse.ArgumentTypeError(f"expected a range that rises, found '{piece}'")
    length = 1 + (int(math.log(last / first, amount)) if multiplies else (last - first) // amount)
    if length > LONGEST_LIST:
        raise argparse.ArgumentTypeError(f"expected at most {LONGEST_LIST} sizes, found '{piece}'")
    value = first
    while value <= last:
        yield value
        value = value * amount if multiplies else value + amount


def parse_sizes(text):
    pieces = text.split(",")
    if "" in pieces:
        raise argparse.ArgumentTypeError(f"expected sizes separated by single commas, found '{text}'")
    return [size for piece in pieces for size in (_range(piece) if ".." in piece else [parse_size(piece)])]


def parse_dtypes(text):
    names = text.split(",")
    if not set(names) <= {"f32", "f64"}:
        raise argparse.ArgumentTypeError(f"expected f32 or f64, found '{text}'")
    return names


def parse_seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, found '{text}'")
    return value


def parse_seed(text):
    if not re.fullmatch("[0-9]+", text):
        raise argparse.ArgumentTypeError(f"expected a non-negative integer, found '{text}'")
    return int(text)


class Parser(argparse.ArgumentParser):
    """One line on stderr and exit code 2 for wrong use."""

    def __init__(self, **kwargs):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)

    def error(self, message):
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


class _Axis(argparse.Action):
    """A list of values; the namespace keeps the order in which lists were named."""

    def __call__(self, parser, namespace, values, option=None):
        setattr(namespace, self.dest, values)
        named = [dest for dest in getattr(namespace, "axes", []) if dest != self.dest]
        namespace.axes = named + [self.dest]


def add_options(parser):
    """The options of `attn timing-sweep` that say what is computed and how long it is measured."""
    sizes = dict(type=parse_sizes, action=_Axis, metavar="SIZES")
    parser.add_argument("--n", default=[512, 1024, 2048, 4096], help="queries, and keys where --n-k is not given (512..4096)", **sizes)
    parser.add_argument("--n-k", help="keys (as many as queries)", **sizes)
    parser.add_argument("--d", default=[64], help="width of queries and keys (64)", **sizes)
    parser.add_argument("--d-v", help="width of values (as --d)", **sizes)
    parser.add_argument("--heads", default=[1], help="query heads (1)", **sizes)
    parser.add_argument("--kv-heads", help="key and value heads (as --heads)", **sizes)
    parser.add_argument("--batch", default=[1], help="batch size (1)", **sizes)
    parser.add_argument("--dtype", default=["f32"], type=parse_dtypes, action=_Axis, metavar="f32|f64", help="type of every number (f32)")
    parser.add_argument("--causal", action="store_true", help="query i sees the keys up to i only")
    parser.add_argument("--threads", type=parse_size, default=available_threads(), metavar="N", help="(the cores this process may use)")
    parser.add_argument("--seed", type=parse_seed, default=0, metavar="INTEGER", help="of the inputs, as NumPy's default_rng takes it (0)")
    parser.add_argument("--protocol", choices=["article", "steady"], help="only what is measured by this one (either)")
    parser.add_argument("--reps", type=parse_size, metavar="N", help="exactly so many samples (as many as the noise asks for)")
    parser.add_argument("--max-time", type=parse_seconds, default=1.0, metavar="S", help="seconds of running time per row (1)")


def cases(args):
    """All cases of the parsed options. Raises ValueError for heads that are no multiple of the key and value heads."""
    named = getattr(args, "axes", [])
    order = [axis for axis in AXES if axis not in named] + named
    found = []
    for values in itertools.product(*(getattr(args, axis) or [None] for axis in order)):
        at = dict(zip(order, values))
        case = Case(at["dtype"], at["batch"], at["heads"], at["kv_heads"] or at["heads"], at["n"], at["n_k"] or at["n"], at["d"],
                    at["d_v"] or at["d"], args.causal)
        if case.heads % case.kv_heads:
            raise ValueError(f"--heads: expected a multiple of --kv-heads, {case.kv_heads}, found {case.heads}")
        found.append(case)
    return found


def arguments(args, **instead):
    """The command line of the sizes in `args`, for another program that takes them; `instead` replaces or (None) leaves out lists."""
    named = getattr(args, "axes", [])
    lists = {axis: instead[axis] if axis in instead else getattr(args, axis) for axis in [a for a in AXES if a not in named] + named}
    words = [word for axis, values in lists.items() if values for word in ("--" + axis.replace("_", "-"), ",".join(map(str, values)))]
    words += ["--threads", str(args.threads), "--seed", str(args.seed), "--max-time", str(args.max_time)]
    return words + (["--causal"] if args.causal else []) + (["--reps", str(args.reps)] if args.reps else [])


def as_json(args):
    """The parsed sizes as the `args` of a document."""
    options = {axis: getattr(args, axis) for axis in AXES}
    options |= {"causal": args.causal, "threads": args.threads, "protocol": args.protocol}
    return options | {"reps": args.reps, "max_time_s": args.max_time, "seed": str(args.seed)}


def available_threads():
    """The cores that affinity and the control groups' quota leave to this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = pathlib.Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return cores if quota == "max" else max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):
        return cores
