// One query's row as the oracle has it, and other rows made from it: what known mistakes are made of.
#pragma once

#include <span>
#include <vector>

#include "attention/problem.h"
#include "verify/oracle.h"
#include "verify/tolerance.h"

namespace attn {

template <class T>
struct RowContext {
  const AttentionTensors<T>& tensors;
  const AttentionShape& shape;
  const AttentionOptions<T>& options;
  const Tolerance& tolerance;
  Index b = 0, h = 0, i = 0;
  const OracleRow<T>& row;

  MatrixView<const T> values() const { return tensors.v.head(b, shape.kv_head_of(h)); }
};

// An output row, and how far one that was rounded on its way may lie from it.
struct ExpectedRow {
  std::vector<double> output;
  std::vector<double> allowed;
};

// weights values, with the allowance that `scores_factor` times the right scores' rounding would have. `weights` need not sum to 1; keys
// of weight 0 take no part.
template <class T>
ExpectedRow row_of_weights(const RowContext<T>& context, const std::vector<OracleType<T>>& weights, MatrixView<const T> values,
                           double scores_factor = 1);

// softmax(scores) values, likewise; a score of -inf takes no part.
template <class T>
ExpectedRow row_of_scores(const RowContext<T>& context, std::vector<OracleType<T>> scores, double scores_factor = 1);

// The masked scores that the row would have with other options but the same scale and softcap.
template <class T>
std::vector<OracleType<T>> remasked(const RowContext<T>& context, const AttentionOptions<T>& other);

// The oracle's own row.
template <class T>
ExpectedRow right_row(const RowContext<T>& context);

}  // namespace attn
