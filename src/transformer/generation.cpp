#include "transformer/generation.h"

#include <fmt/format.h>

#include <algorithm>

#include "gemm/gemm.h"

namespace attn {
namespace {

template <class T>
void project(MatrixView<const T> x, const Matrix<T>& weights, MatrixView<T> to) {
  gemm(T{1}, x, weights.view(), T{0}, to);
}

// The first t rows.
template <class T>
MatrixView<T> first(Matrix<T>& m, Index t) {
  return m.view().block(0, 0, t, m.cols());
}

// The buffers' shapes follow from the weights'; what callers bring is checked here and, where it is multiplied, by gemm.
template <class T>
void check_newest(const AttentionWeights<T>& weights, MatrixView<T> newest) {
  if (newest.rows() != 1 || newest.cols() != weights.o.cols()) {
    throw UsageError(
        fmt::format("generation: newest row: expected (1, {}), found ({}, {})", weights.o.cols(), newest.rows(), newest.cols()));
  }
}

}  // namespace

double uncached_generation_flops(const LayerShape& shape, Index n) {
  const double d = static_cast<double>(shape.d_model);
  const double steps = static_cast<double>(n);
  return 4 * d * d * steps * (steps + 1) + 2 * d * steps * (steps + 1) * (steps + 2) / 3;
}

double cached_generation_flops(const LayerShape& shape, Index n) {
  const double d = static_cast<double>(shape.d_model);
  const double steps = static_cast<double>(n);
  return 8 * steps * d * d + 2 * d * steps * (steps + 1);
}

double uncached_generation_traffic(const LayerShape& shape, Index n) {
  const double d = static_cast<double>(shape.d_model);
  const double steps = static_cast<double>(n);
  return 4 * d * d * steps + 5 * d * steps * (steps + 1);
}

double cached_generation_traffic(const LayerShape& shape, Index n) {
  const double d = static_cast<double>(shape.d_model);
  const double steps = static_cast<double>(n);
  return 4 * d * d * steps + d * steps * (steps + 1) + 8 * d * steps;
}

template <class T>
void uncached_step(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, UncachedBuffers<T>& buffers,
                   MatrixView<T> newest) {
  const Index t = x.rows();
  check_newest(weights, newest);
  if (t < 1 || t > buffers.q.rows()) {
    throw UsageError(fmt::format("generation: tokens: expected 1 to {}, found {}", buffers.q.rows(), t));
  }
  project(x, weights.q, first(buffers.q, t));
  project(x, weights.k, first(buffers.k, t));
  project(x, weights.v, first(buffers.v, t));
  attend<T>(AttentionAlgorithm::fused, heads, true, first(buffers.q, t), first(buffers.k, t), first(buffers.v, t), first(buffers.o, t));
  project<T>(first(buffers.o, t), weights.o, first(buffers.y, t));
  std::copy_n(buffers.y.view().row(t - 1), newest.cols(), newest.data());
}

template <class T>
void cached_step(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, KvCache<T>& cache, CachedBuffers<T>& buffers,
                 MatrixView<T> newest) {
  check_newest(weights, newest);
  project(x, weights.q, buffers.q.view());
  project(x, weights.k, cache.next_key());
  project(x, weights.v, cache.next_value());
  cache.append();
  attend<T>(AttentionAlgorithm::fused, heads, true, buffers.q.view(), cache.keys(), cache.values(), buffers.o.view());
  project<T>(buffers.o.view(), weights.o, newest);
}

template <class T>
void generate_uncached(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, UncachedBuffers<T>& buffers,
                       MatrixView<T> y) {
  for (Index t = 1; t <= x.rows(); ++t) {
    uncached_step(weights, heads, x.block(0, 0, t, x.cols()), buffers, y.block(t - 1, 0, 1, y.cols()));
  }
}

template <class T>
void generate_cached(const AttentionWeights<T>& weights, Index heads, MatrixView<const T> x, KvCache<T>& cache, CachedBuffers<T>& buffers,
                     MatrixView<T> y) {
  cache.truncate(0);
  for (Index t = 1; t <= x.rows(); ++t) {
    cached_step(weights, heads, x.block(t - 1, 0, 1, x.cols()), cache, buffers, y.block(t - 1, 0, 1, y.cols()));
  }
}

template void uncached_step(const AttentionWeights<float>&, Index, MatrixView<const float>, UncachedBuffers<float>&, MatrixView<float>);
template void uncached_step(const AttentionWeights<double>&, Index, MatrixView<const double>, UncachedBuffers<double>&, MatrixView<double>);
template void cached_step(const AttentionWeights<float>&, Index, MatrixView<const float>, KvCache<float>&, CachedBuffers<float>&,
                          MatrixView<float>);
template void cached_step(const AttentionWeights<double>&, Index, MatrixView<const double>, KvCache<double>&, CachedBuffers<double>&,
                          MatrixView<double>);
template void generate_uncached(const AttentionWeights<float>&, Index, MatrixView<const float>, UncachedBuffers<float>&, MatrixView<float>);
template void generate_uncached(const AttentionWeights<double>&, Index, MatrixView<const double>, UncachedBuffers<double>&,
                                MatrixView<double>);
template void generate_cached(const AttentionWeights<float>&, Index, MatrixView<const float>, KvCache<float>&, CachedBuffers<float>&,
                              MatrixView<float>);
template void generate_cached(const AttentionWeights<double>&, Index, MatrixView<const double>, KvCache<double>&, CachedBuffers<double>&,
                              MatrixView<double>);

}  // namespace attn
