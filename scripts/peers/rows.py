"""The peers by name, and rows of results with the names that `attn timing-sweep --json` uses. Standard library only."""
import dataclasses
import math
import statistics

SCHEMA_VERSION = 1
FEWEST_FOR_NOISE = 5


@dataclasses.dataclass(frozen=True)
class Algorithm:
    name: str
    what: str       # "scores": Q K^T alone; "attention": softmax(Q K^T / sqrt(d)) V
    protocol: str   # "article": as document 1 measures; "steady": warmed, memory reused, median


@dataclasses.dataclass(frozen=True)
class Peer:
    packages: tuple  # what pip is asked for
    algorithms: tuple


def _attention(*names):
    return tuple(Algorithm(name, "attention", "steady") for name in names)


PEERS = {
    "numpy": Peer(("numpy", "threadpoolctl"), (
        Algorithm("numpy", "scores", "article"),
        Algorithm("numpy-distinct", "scores", "article"),
        Algorithm("numpy-scores", "scores", "steady"),
    ) + _attention("numpy-attention")),
    "pytorch": Peer(("numpy", "torch"), _attention("pytorch", "pytorch-fused", "pytorch-math")),
    "onnxruntime": Peer(("numpy", "onnx", "onnxruntime"), _attention("onnxruntime", "onnxruntime-mha")),
    "openvino": Peer(("numpy", "openvino"), _attention("openvino")),
}


def row_of(case, algorithm, threads, seed):
    """The parameters of a row; what came out is added to it."""
    attention = algorithm.what == "attention"
    width = case.head_dim + (case.head_dim_v if attention else 0)
    return {
        "experiment": "timing-sweep", "algorithm": algorithm.name, "what": algorithm.what, "dtype": case.dtype, "batch": case.batch,
        "heads": case.heads, "kv_heads": case.kv_heads, "seq_q": case.seq_q, "seq_k": case.seq_k, "head_dim": case.head_dim,
        "head_dim_v": case.head_dim_v if attention else 0, "mask": "causal" if case.causal else "none", "protocol": algorithm.protocol,
        "threads": threads, "isa": None, "seed": str(seed), "kernel": None, "time_s": None, "samples_ns": [],
        "flops": 2 * width * case.visible_pairs, "flops_convention": "2 (d + d_v) per visible pair" if attention else "2 m n k",
        "gflops": None, "bytes_model": None, "peak_bytes": None, "process_peak_bytes": None, "status": "passed", "reason": None,
    }


def quantile(samples, q):
    """Between order statistics by linear interpolation, as numpy.quantile."""
    ordered = sorted(samples)
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def summary(samples):
    """half_iqr is None below five samples, which say nothing of the noise."""
    half_iqr = (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 if len(samples) >= FEWEST_FOR_NOISE else None
    return {"median": quantile(samples, 0.5), "mean": statistics.fmean(samples), "min": min(samples),
            "stddev": statistics.stdev(samples) if len(samples) > 1 else 0.0, "half_iqr": half_iqr}


def set_samples(row, samples_ns):
    """Puts samples into a row, with their statistics and the rate: by the mean for document 1's protocol, else by the median."""
    row["samples_ns"] = list(samples_ns)
    row["time_s"] = {name: None if value is None else value * 1e-9 for name, value in summary(samples_ns).items()}
    row["gflops"] = row["flops"] / statistic_s(row) * 1e-9


def statistic_s(row):
    return row["time_s"]["mean" if row["protocol"] == "article" else "median"]
