// An attention problem: shapes, views of the tensors, and what modifies a score before the softmax.
//
//   s_ij = softmax_scale * sum_x q_ix k_jx                       "raw"
//   s_ij = softcap * tanh(s_ij / softcap)                        "capped", where there is a softcap
//   s_ij = s_ij + mask_ij, or -inf where a mask forbids it,
//          where j > i + offset (causal), outside the window,
//          or at and beyond the batch's key length               "masked"
//   p_ij = exp(s_ij - lse_i),  lse_i = log sum_j exp(s_ij)       "softmax"
//   o_i  = sum_j p_ij v_j
//
// The order is that of the ONNX operator Attention and of the fused kernels in use elsewhere. A masked key takes no part, whatever its
// key and value hold: NaN there goes nowhere. A row without a visible key is zeros, its lse -inf. A visible score of +inf or NaN makes
// its whole row NaN, as in PyTorch; a row whose visible scores are all -inf is zeros.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

// Query heads share key/value heads in groups: query head h reads key/value head h / (heads / kv_heads) (repeated, not tiled).
struct AttentionShape {
  Index batch = 1;
  Index heads = 1;
  Index kv_heads = 1;
  Index seq_q = 0;
  Index seq_k = 0;
  Index head_dim = 0;
  Index head_dim_v = 0;

  Index group() const { return heads / kv_heads; }
  Index kv_head_of(Index head) const { return head / group(); }

  bool operator==(const AttentionShape&) const = default;
};

// A (batch, heads, seq, dim) tensor in memory of any layout whose last dimension is contiguous; does not own it. Strides count elements.
template <class T>
struct TensorView {
  T* data = nullptr;
  Index batch = 0, heads = 0, seq = 0, dim = 0;
  Index batch_stride = 0, head_stride = 0, row_stride = 0;

  // Contiguous (batch, heads, seq, dim).
  static TensorView hnd(T* data, Index batch, Index heads, Index seq, Index dim) {
    return {data, batch, heads, seq, dim, heads * seq * dim, seq * dim, dim};
  }
  // Contiguous (batch, seq, heads, dim), which is also (batch, seq, heads * dim).
  static TensorView nhd(T* data, Index batch, Index heads, Index seq, Index dim) {
    return {data, batch, heads, seq, dim, seq * heads * dim, dim, heads * dim};
  }
  // One batch, one head.
  static TensorView from_matrix(MatrixView<T> m) {
    return {m.data(), 1, 1, m.rows(), m.cols(), m.rows() * m.row_stride(), m.rows() * m.row_stride(), m.row_stride()};
  }

  // (seq, dim) of one head of one batch.
  MatrixView<T> head(Index b, Index h) const { return {data + b * batch_stride + h * head_stride, seq, dim, row_stride}; }

  operator TensorView<const T>() const requires(!std::is_const_v<T>) {
    return {data, batch, heads, seq, dim, batch_stride, head_stride, row_stride};
  }
};

// A mask over (batch, heads, seq_q, seq_k): either `visible` (nonzero takes part) or `additive` (added; -inf forbids). Strides count
// elements and may be 0, which broadcasts. Keys at and beyond `keys` are left out.
template <class T>
struct MaskView {
  const std::uint8_t* visible = nullptr;
  const T* additive = nullptr;
  Index keys = 0;
  Index batch_stride = 0, head_stride = 0, row_stride = 0, key_stride = 1;

  bool exists() const { return visible != nullptr || additive != nullptr; }
  // Where the entry (b, h, i, 0) lies behind `visible` or `additive`.
  Index row_offset(Index b, Index h, Index i) const { return b * batch_stride + h * head_stride + i * row_stride; }
};

inline constexpr Index unlimited = std::numeric_limits<Index>::max();

// Query i stands at key position i + offset: with 0 the first query at the first key (top-left), with seq_k - seq_q the last at the last
// (bottom-right), with a past of n keys at n.
template <class T>
struct AttentionOptions {
  std::optional<double> softmax_scale;  // 1 / sqrt(head_dim) where not given
  double softcap = 0;                   // 0: none
  MaskView<T> mask;                     // none where it points nowhere
  bool causal = false;                  // key j is visible when j <= i + offset
  Index offset = 0;
  std::vector<Index> batch_offsets;  // one per batch, instead of `offset`; empty: none
  Index window_left = unlimited;     // key j is visible when j >= i + offset - window_left
  Index window_right = unlimited;    // and j <= i + offset + window_right
  std::vector<Index> key_lengths;    // one per batch: keys at and beyond it are not visible; empty: seq_k

  Index offset_of(Index b) const { return batch_offsets.empty() ? offset : batch_offsets[static_cast<std::size_t>(b)]; }
};

// Everything that attention reads and writes. q (batch, heads, seq_q, head_dim), k (batch, kv_heads, seq_k, head_dim),
// v (batch, kv_heads, seq_k, head_dim_v), o (batch, heads, seq_q, head_dim_v), which overlaps none of the others.
template <class T>
struct AttentionTensors {
  TensorView<const T> q, k, v;
  TensorView<T> o;
};

// The shape that the views have in common. Throws UsageError naming both sides where they disagree, where heads is no multiple of
// kv_heads, or where an output would overlap itself.
template <class T>
AttentionShape shape_of(const AttentionTensors<T>& tensors);

// Throws UsageError for options that make no sense or do not fit the shape: a scale that is not finite, a negative softcap, both kinds of
// mask, a mask with more keys than there are, negative windows, vectors of other lengths than batch, key lengths outside [0, seq_k].
template <class T>
void check_options(const AttentionShape& shape, const AttentionOptions<T>& options);

// softmax_scale as it applies: the one given, else 1 / sqrt(head_dim) (1 for head_dim 0, where all scores are 0).
template <class T>
double softmax_scale_of(const AttentionShape& shape, const AttentionOptions<T>& options) {
  return options.softmax_scale.value_or(shape.head_dim > 0 ? 1 / std::sqrt(static_cast<double>(shape.head_dim)) : 1.0);
}

}  // namespace attn
