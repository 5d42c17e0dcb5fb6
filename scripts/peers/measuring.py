"""Measures the algorithms of one library on one case: memory at the first call, then samples in turn, then the check of what was timed.

A sample times as many iterations as make a millisecond. An algorithm is done at --reps samples, or when half-IQR / median of five or
more falls below 2 %, or when its own running time is up. Algorithms of one library share a pool of threads and take turns sample by sample.
"""
import contextlib
import ctypes
import gc
import pathlib
import re
import resource
import sys
import time

import facts
import reference
import rows
from peer_common import Unsupported

MIN_SAMPLE_NS = 1_000_000
NOISE_TARGET = 0.02
ARTICLE_REPETITIONS = 3
ARTICLE_BLOCKS = 3
STATUS = pathlib.Path("/proc/self/status")


class _Sampling:
    """One algorithm of a case: its row, its body, its samples."""

    def __init__(self, row, body, buffer_count):
        self.row, self.body, self.buffer_count = row, body, buffer_count
        self.iterations, self.next_buffer, self.spent_ns = 1, 0, 0
        self.samples_ns, self.result = [], None

    def block_ns(self):
        """Time of `iterations` calls, each on the next buffer. As in document 1's loop, a result lives until the next one stands."""
        self.result = None
        run, count, buffer, result = self.body.run, self.buffer_count, self.next_buffer, None
        with self.body.context() if self.body.context else contextlib.nullcontext():
            start = time.perf_counter_ns()
            for _ in range(self.iterations):
                result = run(buffer)
                buffer = (buffer + 1) % count
            elapsed = time.perf_counter_ns() - start
        self.next_buffer, self.result = buffer, result
        return elapsed

    def warm_up(self):
        """At least one more run of the length that samples will have."""
        while (elapsed := self.block_ns()) < MIN_SAMPLE_NS:
            self.iterations = max(self.iterations + 1, int(self.iterations * 1.2 * MIN_SAMPLE_NS / max(elapsed, 1)))

    def sample(self):
        elapsed = self.block_ns()
        self.spent_ns += elapsed
        self.samples_ns.append(elapsed / self.iterations)

    def done(self, args):
        if args.reps:
            return len(self.samples_ns) >= args.reps
        if self.spent_ns >= args.max_time * 1e9:
            return bool(self.samples_ns)
        summary = rows.summary(self.samples_ns) if len(self.samples_ns) >= rows.FEWEST_FOR_NOISE else None
        return summary is not None and summary["half_iqr"] < NOISE_TARGET * summary["median"]


def measure_case(library, case, algorithms, args):
    """The rows of all algorithms on one case."""
    if case.causal and case.seq_q != case.seq_k:
        reason = "causal with unequal numbers of queries and keys: libraries align the mask differently"
        return [rows.row_of(case, a, args.threads, args.seed) | {"status": "skipped", "reason": reason} for a in algorithms]
    buffers = reference.buffers(case, args.seed, _buffer_count(case))
    found, running = [], []
    for algorithm in algorithms:
        row = rows.row_of(case, algorithm, args.threads, args.seed) | {"isa": library.isa}
        found.append(row)
        try:
            body = library.prepare(case, algorithm.name, buffers)
            _require_memory(case, algorithm, body)
            sampling = _Sampling(row, body, len(buffers) if algorithm.protocol == "steady" else 1)
            _first_call(case, algorithm, sampling)
            running.append(sampling)
        except (Unsupported, MemoryError) as error:
            row.update(status="skipped", reason=_one_line(error))
        except Exception as error:  # a peer's own failure must not take the other rows with it
            row.update(status="error", reason=f"{type(error).__name__}: {_one_line(error)}")
    _take_samples([s for s in running if s.row["protocol"] == "steady"], args)
    for sampling in running:
        if sampling.row["protocol"] == "article":
            _article_samples(sampling, args)
    for sampling in running:
        _finish(case, buffers[0], sampling)
    return found


def _buffer_count(case):
    """Two, so that no call finds its own inputs in the nearest caches. A single query is bound by memory: four times the last cache."""
    if case.seq_q > 1:
        return 2
    wanted = 4 * facts.last_cache_bytes()
    affordable = (facts.available_bytes() or wanted) // 4
    return max(2, -(-min(wanted, affordable) // (case.query_and_key_bytes + case.value_bytes)))


def _require_memory(case, algorithm, body):
    """Scores alone: the result and the one before it. Attention that stores them: scores, weights, and a library's own copy."""
    copies = 2 if algorithm.what == "scores" else 3 if body.materialises else 0
    needed = copies * case.scores_bytes
    available = facts.available_bytes()
    if available is not None and needed > available:
        raise Unsupported(f"needs about {needed / 1e9:.1f} GB, {available / 1e9:.1f} GB are available")


def _first_call(case, algorithm, sampling):
    """A warm-up apart, with nothing else in flight: how far the process's memory rises, beside the inputs it already holds."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc keeps freed memory, in which a rise would hide
    before = _reset_peak()
    sampling.block_ns()
    peak = _status_bytes("VmHWM")
    inputs = case.query_and_key_bytes + (case.value_bytes if algorithm.what == "attention" else 0)
    if before is not None and peak is not None:
        sampling.row["peak_bytes"] = peak - before + inputs
    sampling.row["kernel"] = sampling.body.kernel
    sampling.row["bytes_model"] = _traffic_bytes(case, algorithm, sampling.body)


def _traffic_bytes(case, algorithm, body):
    """Every operand read once, every result written once; stored scores besides written, read and written by the softmax, read again."""
    if algorithm.what == "scores":
        return case.query_and_key_bytes + case.scores_bytes
    if body.materialises is None:
        return None
    ends = case.query_and_key_bytes + case.value_bytes + case.output_bytes
    return ends + (4 * case.visible_pairs * case.item_bytes if body.materialises else 0)


def _reset_peak():
    """Sets the process's high-water mark back to the present; returns the present, or None where the system has no such thing."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status_bytes("VmRSS")


def _status_bytes(name):
    match = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.M) if STATUS.exists() else None
    return int(match[1]) * 1024 if match else None


def _take_samples(running, args):
    for sampling in running:
        sampling.warm_up()
    while running:
        for sampling in running:
            sampling.sample()
        running = [sampling for sampling in running if not sampling.done(args)]


def _article_samples(sampling, args):
    """Document 1's statistic, the mean of three repetitions under one clock; several of them, so that its spread is seen."""
    sampling.iterations = ARTICLE_REPETITIONS
    for _ in range(args.reps or ARTICLE_BLOCKS):
        sampling.sample()


def _finish(case, inputs, sampling):
    rows.set_samples(sampling.row, sampling.samples_ns)
    sampling.row["process_peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    output = sampling.body.output(sampling.result)
    if sampling.row["what"] == "scores":
        wrong = reference.check_scores(inputs[0], inputs[0] if sampling.body.symmetric else inputs[1], output)
    else:
        wrong = reference.check_attention(case, inputs, output)
    if wrong:
        sampling.row.update(status="failed", reason=wrong)


def _one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
