"""Inputs of a case, and the check of a peer's output against attention in float64 on a few rows.

How far an output o may lie from the reference o* = sum_j p_j v_j, to first order in the rounding of its type (eps: half an ulp at 1):

    |o - o*| <= eps (|o*| + sum_j p_j |v_j|) + 8 eps sum_j p_j (|v_j| + |v_j - o*| scale sum_t |q_t k_jt|)

the output's and the weights' own rounding; adding up; and what an error of score j does to the weights. The factor 8 covers sums added in
any order. It lets a float32 result pass and not one that was computed in a narrower type. Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., section 3.1.
"""
import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64}
SAMPLED_ROWS = 6


def buffers(case, seed, count):
    """`count` copies of (q, k, v), drawn in this order as float64 normals; q (batch, heads, seq_q, head_dim), k and v alike."""
    rng = np.random.default_rng(seed)
    shapes = (
        (case.batch, case.heads, case.seq_q, case.head_dim),
        (case.batch, case.kv_heads, case.seq_k, case.head_dim),
        (case.batch, case.kv_heads, case.seq_k, case.head_dim_v),
    )
    first = tuple(rng.standard_normal(shape).astype(DTYPES[case.dtype]) for shape in shapes)
    return [first] + [tuple(array.copy() for array in first) for _ in range(count - 1)]


def attention_row(case, inputs, b, h, i):
    """Row i of head h in float64, and the allowed difference of each of its elements."""
    kv_head = h // (case.heads // case.kv_heads)
    visible = i + 1 if case.causal else case.seq_k
    q = inputs[0][b, h, i].astype(np.float64)
    k, v = (array[b, kv_head, :visible].astype(np.float64) for array in inputs[1:])
    scale = 1 / np.sqrt(case.head_dim)
    scores = k @ q * scale
    p = np.exp(scores - scores.max())
    p /= p.sum()
    o = p @ v
    magnitudes = p @ np.abs(v)
    moved = (p * (np.abs(k) @ np.abs(q)) * scale) @ np.abs(v - o)
    eps = np.finfo(DTYPES[case.dtype]).eps / 2
    return o, eps * (np.abs(o) + magnitudes) + 8 * eps * (magnitudes + moved)


def check_attention(case, inputs, output):
    """What is wrong with an output (batch, heads, seq_q, head_dim_v), in words; None if nothing is."""
    expected = (case.batch, case.heads, case.seq_q, case.head_dim_v)
    if output.shape != expected or output.dtype != DTYPES[case.dtype]:
        return f"output: expected {expected} of {case.dtype}, found {output.shape} of {output.dtype}"
    for b, h in {(0, 0), (case.batch - 1, case.heads - 1)}:
        for i in sampled_rows(case.seq_q):
            row, allowed = attention_row(case, inputs, b, h, i)
            wrong = ~(np.abs(output[b, h, i].astype(np.float64) - row) <= allowed)
            if wrong.any():
                x = int(np.argmax(wrong))
                return (f"output: batch {b}, head {h}, row {i}, column {x}: expected {row[x]:.9g} within {allowed[x]:.1g}, "
                        f"found {output[b, h, i, x]:.9g}")
    return None


def check_scores(q, k, output):
    """The same for scores (batch, heads, seq_q, seq_k), the last head's: within 8 eps |q| |k| of float64."""
    expected = q.shape[:3] + k.shape[2:3]
    if output.shape != expected or output.dtype != q.dtype:
        return f"scores: expected {expected} of {q.dtype}, found {output.shape} of {output.dtype}"
    q, k = q[-1, -1].astype(np.float64), k[-1, -1].astype(np.float64)
    for i in sampled_rows(len(q)):
        difference = np.abs(output[-1, -1, i] - k @ q[i])
        if not (difference <= 8 * np.finfo(output.dtype).eps * (np.abs(k) @ np.abs(q[i]))).all():
            return f"scores: row {i} differs from float64 by up to {difference.max():.1g}"
    return None


def sampled_rows(count):
    """The first, the last, and some between."""
    return sorted({0, count - 1} | set(np.random.default_rng(0).integers(0, count, SAMPLED_ROWS).tolist()))
