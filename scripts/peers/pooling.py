"""Rows of several rounds made one: samples pooled, rates anew, each compared with `attn`'s own row of the same work.

Standard library only.
"""
import rows

PARAMETERS = ("experiment", "algorithm", "what", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "head_dim_v", "mask",
              "protocol", "threads", "seed")
# What else of a row holds for the pool as for its parts, or is taken together in pooled().
KEPT = ("isa", "kernel", "flops", "flops_convention", "bytes_model", "input_hash", "output_hash", "status", "reason")
CEILINGS = ("peak_gflops", "read_gbps_ceiling")
WORST_FIRST = ("failed", "error", "skipped", "passed")
# Our own row that a row's time is divided by, by `what` is computed.
BASES = {"attention": ("fused", "decode"), "fused": ("fused",), "standard": ("fused",), "decode": ("decode",), "scores": ("scores",)}


def completed(row, threads):
    """A row of `attn` with the parameters that document 1's protocol leaves out, being of one head without a mask."""
    defaults = {"what": "scores", "batch": 1, "heads": 1, "kv_heads": 1, "head_dim_v": 0, "mask": "none", "threads": threads}
    return defaults | row


def pool(found):
    """One row for all of the same parameters, in the order in which they first came."""
    groups = {}
    for row in found:
        groups.setdefault(tuple(row.get(name) for name in PARAMETERS), []).append(row)
    pooled = [pooled_row(group) for group in groups.values()]
    _add_fractions(pooled)
    return pooled


def pooled_row(group):
    worst = min(group, key=lambda row: WORST_FIRST.index(row["status"]))
    row = {name: worst.get(name) for name in PARAMETERS + KEPT}
    row["rounds"] = len(group)
    for name in ("peak_bytes", "process_peak_bytes") + CEILINGS:
        row[name] = max((part[name] for part in group if part.get(name) is not None), default=None)
    row["gflops"] = row["time_s"] = None
    samples = [sample for part in group for sample in _samples_ns(part)]
    if samples:
        rows.set_samples(row, samples)
    return row


def _samples_ns(row):
    """Where only a mean is known, as by document 1's protocol, it is the one sample."""
    if row.get("samples_ns"):
        return row["samples_ns"]
    mean_s = (row.get("time_s") or {}).get("mean")
    return [mean_s * 1e9] if mean_s else []


def _add_fractions(pooled):
    """Shares of the best arithmetic rate that was measured for the type, and, of a decode step, of the best rate of reading so much memory
    as it must at the least; and how many times faster than our own row each is."""
    peaks = {}
    for row in pooled:
        peaks[row["dtype"]] = max(peaks.get(row["dtype"], 0), row["peak_gflops"] or 0)
    for row in pooled:
        peak = row["peak_gflops"] = peaks[row["dtype"]] or None
        row["peak_fraction"] = row["gflops"] / peak if peak and row["gflops"] else None
        row["speedup"] = row["read_fraction"] = None
        base = base_of(row, pooled)
        if base and row["time_s"]:
            row["speedup"] = rows.statistic_s(base) / rows.statistic_s(row)
            if base["read_gbps_ceiling"]:
                row["read_fraction"] = base["bytes_model"] / rows.statistic_s(row) * 1e-9 / base["read_gbps_ceiling"]


def problem_of(row):
    """What rows must have in common to be compared: all but who computes it, and how."""
    scores = row["what"] == "scores"
    names = ("dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "head_dim_v", "mask", "protocol", "threads")
    return (scores,) + tuple(row[name] for name in names)


def base_of(row, pooled):
    """Our own row of the same problem; None where it has not been measured."""
    for other in pooled:
        if other["algorithm"] in BASES[row["what"]] and other["time_s"] and problem_of(other) == problem_of(row):
            return other
    return None
