// Generating n tokens in one attention layer, with and without a cache of keys and values.
//
// Step t = 1 ... n has the tokens x_1 ... x_t (rows of x) and wants the newest row of y = attention(x W_q, x W_k, x W_v) W_o, causal. A
// model would make token t + 1 of it; here all tokens are given beforehand, so that both ways see the same ones whatever they round.
//
//   without a cache   project all t tokens, attend causally, project all t outputs        8 t d^2 + 2 d t (t + 1)
//   with a cache      project one token, append its key and value, attend with one        8 d^2 + 4 d t
//                     query to t keys, project one output
//
// d = d_model; multiplications and additions, 2 m n k for products and 4 head_dim for each pair that a head sees (layer.h). Over all steps:
//
//   without   4 d^2 n (n + 1) + 2 d n (n + 1) (n + 2) / 3          with   8 n d^2 + 2 d n (n + 1)
//
// so that time goes with n^2 to n^3 without a cache and with n to n^2 with one, which takes 2 n d numbers. Causal attention makes both
// right: row t of any step depends on x_1 ... x_t alone, and so do the keys and values of all tokens before.
// Pope et al., "Efficiently Scaling Transformer Inference", 2022, section 2.
#pragma once

#include "transformer/kv_cache.h"
#include "transformer/layer.h"

namespace attn {

// Multiplications and additions of n steps, as above.
double uncached_generation_flops(const LayerShape& shape, Index n);
double cached_generation_flops(const LayerShape& shape, Index n);

// Numbers that must move between memory and caches: of every step the weights, each operand read once and each result written once:
// 4 d^2 + 10 t d without a cache (x, q, k, v, o, y; all but x and y both ways), 4 d^2 + 2 t d + 8 d with one.
double uncached_generation_traffic(const LayerShape& shape, Index n);
double cached_generation_traffic(const LayerShape& shape, Index n);

// What the steps without a cache compute, for up to `n` tokens: each (n, d_model). After n steps q, k and v are those of all tokens.
template <class T>
struct UncachedBuffers {
  Matrix<T> q, k, v, o, y;

  UncachedBuffers(Index n, Index d_model) : q(n, d_model), k(n, d_model), v(n, d_model), o(n, d_model), y(n, d_model) {}
};

// The newest row of the layer's output (1, d_model) for the tokens x (t, d_model), all projected again.
// All steps throw UsageError for shapes that do not fit, MemoryError where memory does not suffice.
template <class T>
void uncached_step(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, UncachedBuffers<T>& buffers,
                   MatrixView<T> newest);

// What a step with a cache computes, (1, d_model).
template <class T>
struct CachedBuffers {
  Matrix<T> q, o;

  explicit CachedBuffers(Index d_model) : q(1, d_model), o(1, d_model) {}
};

// The same for the newest token x (1, d_model) after those in the cache, which it joins.
template <class T>
void cached_step(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, KvCache<T>& cache, CachedBuffers<T>& buffers,
                 MatrixView<T> newest);

// All steps for the tokens x (n, d_model): row t of y (n, d_model) is the newest of step t.
template <class T>
void generate_uncached(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, UncachedBuffers<T>& buffers,
                       MatrixView<T> y);

// The cache, emptied before, needs room for n tokens.
template <class T>
void generate_cached(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, KvCache<T>& cache, CachedBuffers<T>& buffers,
                     MatrixView<T> y);

}  // namespace attn
