// Attention by the book: one query row at a time, one key at a time, every stage kept, in any arithmetic type. No speed is sought; this is
// what the other algorithms are compared with, and in a type wider than its input it is the oracle.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/problem.h"
#include "attention/visibility.h"

namespace attn {

// One query's row at every stage; all vectors have seq_k elements, output head_dim_v.
template <class Acc>
struct AttentionRow {
  std::vector<Acc> raw;      // softmax_scale q k^T
  std::vector<Acc> capped;   // after the softcap
  std::vector<Acc> masked;   // after mask, causality, window and key length; -inf where the key takes no part
  std::vector<Acc> weights;  // softmax of that
  std::vector<Acc> output;
  Acc lse = -std::numeric_limits<Acc>::infinity();
};

// softmax_scale in the type of the computation: the option's value, or 1 / sqrt(head_dim) rounded in that type.
template <class Acc, class T>
Acc reference_scale(const AttentionShape& shape, const AttentionOptions<T>& options) {
  using std::sqrt;
  if (options.softmax_scale) return static_cast<Acc>(*options.softmax_scale);
  return shape.head_dim > 0 ? Acc(1) / sqrt(static_cast<Acc>(shape.head_dim)) : Acc(1);
}

// Weights and log-sum-exp of row.masked. A row without a finite or NaN score has weights 0 and lse -inf.
template <class Acc>
void reference_softmax(AttentionRow<Acc>& row) {
  using std::exp;
  using std::log;
  const Acc lowest = -std::numeric_limits<Acc>::infinity();
  Acc row_max = lowest;
  for (const Acc& s : row.masked) row_max = s > row_max ? s : row_max;
  if (row_max == lowest) row_max = Acc(0);  // keeps -inf - row_max from being NaN
  Acc sum(0);
  row.weights.clear();
  for (const Acc& s : row.masked) {
    row.weights.push_back(exp(s - row_max));
    sum = sum + row.weights.back();
  }
  row.lse = sum == Acc(0) ? lowest : row_max + log(sum);
  if (sum == Acc(0)) return;
  for (Acc& p : row.weights) p = p / sum;
}

// Row i of head h of batch b, all stages. Tensors hold T, everything is computed in Acc. Shape and options must fit (shape_of,
// check_options).
template <class Acc, class T>
AttentionRow<Acc> reference_row(const AttentionShape& shape, const TensorView<const T>& q, const TensorView<const T>& k,
                                const TensorView<const T>& v, const AttentionOptions<T>& options, Index b, Index h, Index i) {
  using std::tanh;
  const MatrixView<const T> keys = k.head(b, shape.kv_head_of(h));
  const MatrixView<const T> values = v.head(b, shape.kv_head_of(h));
  const T* query = q.head(b, h).row(i);
  const Acc scale = reference_scale<Acc>(shape, options);
  const Acc softcap = static_cast<Acc>(options.softcap);
  const MaskView<T>& mask = options.mask;
  AttentionRow<Acc> row;
  std::vector<bool> visible;
  for (Index j = 0; j < shape.seq_k; ++j) {
    Acc dot(0);
    for (Index x = 0; x < shape.head_dim; ++x) dot = dot + static_cast<Acc>(query[x]) * static_cast<Acc>(keys(j, x));
    row.raw.push_back(scale * dot);
    row.capped.push_back(options.softcap > 0 ? softcap * tanh(row.raw.back() / softcap) : row.raw.back());
    visible.push_back(is_visible(shape, options, b, h, i, j));
    Acc masked = visible.back() ? row.capped.back() : -std::numeric_limits<Acc>::infinity();
    if (visible.back() && mask.additive != nullptr) {
      masked = masked + static_cast<Acc>(mask.additive[mask.row_offset(b, h, i) + j * mask.key_stride]);
    }
    row.masked.push_back(masked);
  }
  reference_softmax(row);
  for (Index x = 0; x < shape.head_dim_v; ++x) {
    Acc sum(0);
    for (Index j = 0; j < shape.seq_k; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (visible[at]) sum = sum + row.weights[at] * static_cast<Acc>(values(j, x));
    }
    row.output.push_back(sum);
  }
  return row;
}

// o, and where `lse` is given (batch, heads, seq_q) the log-sum-exp, all in T. Throws UsageError as shape_of and check_options do.
template <class T>
void reference_attention(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options = {}, T* lse = nullptr) {
  const AttentionShape shape = shape_of(tensors);
  check_options(shape, options);
  for (Index b = 0; b < shape.batch; ++b) {
    for (Index h = 0; h < shape.heads; ++h) {
      for (Index i = 0; i < shape.seq_q; ++i) {
        const AttentionRow<T> row = reference_row<T>(shape, tensors.q, tensors.k, tensors.v, options, b, h, i);
        std::copy(row.output.begin(), row.output.end(), tensors.o.head(b, h).row(i));
        if (lse != nullptr) lse[(b * shape.heads + h) * shape.seq_q + i] = row.lse;
      }
    }
  }
}

}  // namespace attn
