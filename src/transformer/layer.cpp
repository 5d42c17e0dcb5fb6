#include "transformer/layer.h"

#include <fmt/format.h>

#include "attention/fused.h"
#include "attention/standard.h"
#include "gemm/gemm.h"
#include "transformer/gelu.h"

namespace attn {
namespace {

// All heads of (n, heads * head_dim) as (1, heads, n, head_dim).
template <class T>
TensorView<T> heads_of(MatrixView<T> m, Index heads) {
  const Index head_dim = m.cols() / heads;
  return {m.data(), 1, heads, m.rows(), head_dim, m.rows() * m.row_stride(), head_dim, m.row_stride()};
}

void check_heads(Index d_model, Index heads) {
  if (heads < 1 || d_model % heads != 0) throw UsageError(fmt::format("heads: expected a divisor of d_model {}, found {}", d_model, heads));
}

double product(Index a, Index b, Index c) { return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c); }

}  // namespace

LayerShape layer_shape(Index d_model, Index heads) {
  check_heads(d_model, heads);
  return {d_model, heads, 4 * d_model};
}

double projection_flops(const LayerShape& shape, Index n) { return 4 * 2 * product(n, shape.d_model, shape.d_model); }

double attention_flops(const LayerShape& shape, Index n, bool causal) {
  const double pairs = static_cast<double>(n) * (causal ? static_cast<double>(n + 1) / 2 : static_cast<double>(n));
  return 4 * pairs * static_cast<double>(shape.d_model);
}

double feed_forward_flops(const LayerShape& shape, Index n) { return 2 * 2 * product(n, shape.d_model, shape.d_hidden); }

Index attention_majority(const LayerShape& shape, bool causal) {
  return causal ? 4 * shape.d_model + 2 * shape.d_hidden : 2 * shape.d_model + shape.d_hidden + 1;
}

template <class T>
void attend(AttentionAlgorithm algorithm, Index heads, bool causal, MatrixView<const T> q, MatrixView<const T> k, MatrixView<const T> v,
            MatrixView<T> o, T* scores) {
  for (const Index columns : {q.cols(), k.cols(), v.cols(), o.cols()}) check_heads(columns, heads);
  const AttentionTensors<T> tensors{heads_of(q, heads), heads_of(k, heads), heads_of(v, heads), heads_of(o, heads)};
  AttentionOptions<T> options;
  options.causal = causal;
  options.offset = k.rows() - q.rows();
  if (algorithm == AttentionAlgorithm::standard) {
    StandardOutputs<T> outputs;
    outputs.scores = scores;
    standard_attention<T>(tensors, options, outputs);
  } else {
    fused_attention<T>(tensors, options);
  }
}

template <class T>
void feed_forward(const FeedForwardWeights<T>& weights, MatrixView<const T> y, MatrixView<T> hidden, MatrixView<T> z) {
  gemm(T{1}, y, weights.in.view(), T{0}, hidden);
  gelu(hidden);
  gemm(T{1}, MatrixView<const T>(hidden), weights.out.view(), T{0}, z);
}

template void attend(AttentionAlgorithm, Index, bool, MatrixView<const float>, MatrixView<const float>, MatrixView<const float>,
                     MatrixView<float>, float*);
template void attend(AttentionAlgorithm, Index, bool, MatrixView<const double>, MatrixView<const double>, MatrixView<const double>,
                     MatrixView<double>, double*);
template void feed_forward(const FeedForwardWeights<float>&, MatrixView<const float>, MatrixView<float>, MatrixView<float>);
template void feed_forward(const FeedForwardWeights<double>&, MatrixView<const double>, MatrixView<double>, MatrixView<double>);

}  // namespace attn
