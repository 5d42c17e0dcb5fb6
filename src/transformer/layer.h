// One transformer layer in its parts: projections, attention, feed-forward.
//
//   q = x W_q,  k = x W_k,  v = x W_v                        x (n, d_model), every W (d_model, d_model)
//   o = [heads] softmax(q_h k_h^T / sqrt(head_dim)) v_h      head_dim = d_model / heads columns each, side by side in q, k, v and o
//   y = o W_o
//   z = gelu(y W_in) W_out                                   W_in (d_model, d_hidden), W_out (d_hidden, d_model)
//
// Vaswani et al., "Attention Is All You Need", 2017, sections 3.2.2 and 3.3, with GELU for their ReLU. Layer norms and the additions around
// the parts, some n d_model operations each, are left out, and so are biases.
//
// Multiplications and additions, 2 m n k for a product (m, k) by (k, n) and 4 head_dim for each query-key pair that a head sees:
//
//   projections    4 * 2 n d_model^2                 =  8 n d_model^2
//   attention      heads * pairs * 4 head_dim        =  4 pairs d_model,   pairs = n^2, or causal n (n + 1) / 2
//   feed-forward   2 * 2 n d_model d_hidden          =  16 n d_model^2  with d_hidden = 4 d_model
//
// Attention is more than half of them where 4 pairs d_model > n (8 d_model^2 + 4 d_model d_hidden), that is
//
//   n > 2 d_model + d_hidden   (= 6 d_model),        causal   n > 4 d_model + 2 d_hidden - 1   (= 12 d_model - 1).
#pragma once

#include "matrix/matrix.h"

namespace attn {

struct LayerShape {
  Index d_model = 0;
  Index heads = 1;
  Index d_hidden = 0;

  Index head_dim() const { return d_model / heads; }

  bool operator==(const LayerShape&) const = default;
};

// With d_hidden = 4 d_model, as usual. Throws UsageError unless `heads` divides d_model.
LayerShape layer_shape(Index d_model, Index heads);

// Multiplications and additions of the parts for n tokens, as above.
double projection_flops(const LayerShape& shape, Index n);
double attention_flops(const LayerShape& shape, Index n, bool causal);
double feed_forward_flops(const LayerShape& shape, Index n);

// The smallest n at which attention is more than half of them.
Index attention_majority(const LayerShape& shape, bool causal);

template <class T>
struct AttentionWeights {
  Matrix<T> q, k, v, o;  // (d_model, d_model)
};

template <class T>
struct FeedForwardWeights {
  Matrix<T> in;   // (d_model, d_hidden)
  Matrix<T> out;  // (d_hidden, d_model)
};

enum class AttentionAlgorithm { standard, fused };

// o (n_q, d_model) from q (n_q, d_model), k and v (n_k, d_model), all heads, without copying any of them. Causal aligns the last query with
// the last key. `scores` is memory for standard attention to work in (StandardOutputs), or null. Throws UsageError for shapes that do not
// fit, MemoryError where memory does not suffice.
template <class T>
void attend(AttentionAlgorithm algorithm, Index heads, bool causal, MatrixView<const T> q, MatrixView<const T> k, MatrixView<const T> v,
            MatrixView<T> o, T* scores = nullptr);

// z (n, d_model) from y (n, d_model); hidden (n, d_hidden) receives gelu(y W_in). Throws as gemm.
template <class T>
void feed_forward(const FeedForwardWeights<T>& weights, MatrixView<const T> y, MatrixView<T> hidden, MatrixView<T> z);

}  // namespace attn
