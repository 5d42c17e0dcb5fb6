#!/usr/bin/env python3
"""NumPy: document 1's work, and what of its time is its own doing.

    numpy            Q K^T with Q and K the same array, a new result every time, mean of three: as document 1 measures it
    numpy-distinct   the same with another K: no symmetric product, whose triangle NumPy would mirror
    numpy-scores     distinct operands and a result that is reused, warmed, median
    numpy-attention  the articles' softmax(Q K^T / sqrt(d)) V
"""
from peer_common import Body, Library, Unsupported, run_peer


def blas_facts(threads):
    """Versions, and the kernels that NumPy's BLAS took for this processor, if threadpoolctl is there to tell."""
    import numpy as np

    versions = {"numpy": np.__version__}
    try:
        import threadpoolctl
    except ImportError:
        return versions, None
    threadpoolctl.threadpool_limits(threads)
    for pool in threadpoolctl.threadpool_info():
        if pool["user_api"] == "blas":
            versions[pool["internal_api"]] = pool["version"]
            return versions, pool.get("architecture")
    return versions, None


def attention(np, q, k, v, causal):
    """q (batch, heads, seq_q, d), k and v (batch, kv_heads, seq_k, d or d_v); key heads are broadcast over their group of query heads."""
    batch, heads, seq_q, d = q.shape
    kv_heads, seq_k = k.shape[1:3]
    q = q.reshape(batch, kv_heads, heads // kv_heads, seq_q, d)
    scores = q @ k[:, :, None].swapaxes(-1, -2) / np.sqrt(d).astype(q.dtype)
    if causal:
        scores = np.where(np.tril(np.ones((seq_q, seq_k), bool)), scores, scores.dtype.type(-np.inf))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return (weights @ v[:, :, None]).reshape(batch, heads, seq_q, v.shape[-1])


def scores_body(np, case, algorithm, buffers):
    if case.causal:
        raise Unsupported("scores have no mask")
    if case.heads != case.kv_heads:
        raise Unsupported("scores are timed with as many key heads as query heads")
    if algorithm == "numpy-scores":
        out = np.empty((case.batch, case.heads, case.seq_q, case.seq_k), buffers[0][0].dtype)
        transposed = [(q, k.swapaxes(-1, -2)) for q, k, _ in buffers]
        return Body(lambda i: np.matmul(*transposed[i], out=out), lambda result: result, "np.matmul(Q, K.T, out=)")
    return article_body(case, algorithm, buffers)


def article_body(case, algorithm, buffers):
    """Document 1's statement on one (n, d) matrix of float64, or on two."""
    symmetric = algorithm == "numpy"
    if case.dtype != "f64" or case.batch * case.heads != 1:
        raise Unsupported("document 1 computes one head in float64")
    if symmetric and case.seq_q != case.seq_k:
        raise Unsupported("document 1 multiplies a matrix with its own transpose: as many keys as queries")
    Q = buffers[0][0][0, 0]
    K = Q if symmetric else buffers[0][1][0, 0]
    return Body(lambda _: Q @ K.T, lambda result: result[None, None], "Q @ K.T", symmetric=symmetric)


def load(threads):
    import numpy as np

    versions, isa = blas_facts(threads)

    def prepare(case, algorithm, buffers):
        if algorithm != "numpy-attention":
            return scores_body(np, case, algorithm, buffers)
        return Body(lambda i: attention(np, *buffers[i], case.causal), lambda result: result, "NumPy expressions", materialises=True)

    return Library(versions, isa, prepare)


if __name__ == "__main__":
    raise SystemExit(run_peer("numpy", load))
