// The rows that mistaken kernels would give, made from the oracle's scores and weights. Nothing where a mistake leaves a row as it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "attention/visibility.h"
#include "verify/row_context.h"

namespace attn::mistaken {

template <class T>
using Made = std::optional<ExpectedRow>;

// Keys that kernels commonly work on at a time, but so few that there are two tiles at least.
inline Index tile_keys(Index seq_k) {
  Index tile = 64;
  while (tile > 1 && tile >= seq_k) tile /= 2;
  return tile;
}

// One past the last key that can take part in batch b, causality and window apart.
template <class T>
Index end_of_keys(const RowContext<T>& c) {
  AttentionOptions<T> padding_only;
  padding_only.mask = c.options.mask;
  padding_only.key_lengths = c.options.key_lengths;
  return visible_range(c.shape, padding_only, c.b, c.i).last;
}

template <class T>
bool sees_a_key(const RowContext<T>& c) {
  return std::any_of(c.row.weights.begin(), c.row.weights.end(), [](const auto& p) { return static_cast<double>(p) != 0; });
}

// The mistake of having other options; no mistake where the masked scores are the same.
template <class T>
auto with_options(AttentionOptions<T> other) {
  return [other](const RowContext<T>& c) -> Made<T> { return row_of_scores(c, remasked(c, other)); };
}

// The weights multiplied by factor(j) for the keys [first, last) with everything divided by the new sum.
template <class T>
Made<T> reweighted(const RowContext<T>& c, Index first, Index last, int factor) {
  using A = OracleType<T>;
  std::vector<A> weights = c.row.weights;
  for (Index j = std::max<Index>(first, 0); j < last; ++j)
    weights[static_cast<std::size_t>(j)] = weights[static_cast<std::size_t>(j)] * A(factor);
  A sum(0);
  for (const A& p : weights) sum = sum + p;
  if (!(sum == A(0))) {
    for (A& p : weights) p = p / sum;
  }
  return row_of_weights(c, weights, c.values());
}

// The scores with another scale, `factor` times the right one, and the same softcap (0: none) and mask.
template <class T>
Made<T> rescaled(const RowContext<T>& c, double factor, double softcap) {
  using std::tanh;
  using A = OracleType<T>;
  std::vector<A> scores = c.row.masked;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (std::isinf(static_cast<double>(scores[j]))) continue;
    const A raw = c.row.raw[j] * A(factor);
    const A capped = softcap > 0 ? A(softcap) * tanh(raw / A(softcap)) : raw;
    scores[j] = scores[j] - c.row.capped[j] + capped;
  }
  return row_of_scores(c, std::move(scores), std::abs(factor));
}

// Online softmax over tiles that forgets exp(old maximum - new maximum) for the output, and for the sum too or not.
template <class T>
Made<T> not_rescaled(const RowContext<T>& c, bool sum_rescaled) {
  using std::exp;
  using A = OracleType<T>;
  const Index tile = tile_keys(c.shape.seq_k);
  std::vector<A> weights(c.row.masked.size());
  A row_max = -std::numeric_limits<A>::infinity();
  A sum(0);
  for (Index first = 0; first < c.shape.seq_k; first += tile) {
    const Index last = std::min(first + tile, c.shape.seq_k);
    const A before = row_max;
    for (Index j = first; j < last; ++j) {
      if (c.row.masked[static_cast<std::size_t>(j)] > row_max) row_max = c.row.masked[static_cast<std::size_t>(j)];
    }
    if (std::isinf(static_cast<double>(row_max))) continue;
    if (sum_rescaled) sum = sum * exp(before - row_max);
    for (Index j = first; j < last; ++j) {
      weights[static_cast<std::size_t>(j)] = exp(c.row.masked[static_cast<std::size_t>(j)] - row_max);
      sum = sum + weights[static_cast<std::size_t>(j)];
    }
  }
  if (sum == A(0)) return std::nullopt;
  for (A& p : weights) p = p / sum;
  return row_of_weights(c, weights, c.values());
}

template <class T>
Made<T> heads_tiled(const RowContext<T>& c) {
  const Index right = c.shape.kv_head_of(c.h);
  const Index wrong = c.h % c.shape.kv_heads;
  if (wrong == right) return std::nullopt;
  AttentionTensors<T> tensors = c.tensors;
  tensors.k.data += (wrong - right) * tensors.k.head_stride;
  tensors.v.data += (wrong - right) * tensors.v.head_stride;
  const auto row = reference_row<OracleType<T>, T>(c.shape, tensors.q, tensors.k, tensors.v, c.options, c.b, c.h, c.i);
  return right_row(RowContext<T>{tensors, c.shape, c.options, c.tolerance, c.b, c.h, c.i, row});
}

template <class T>
Made<T> values_transposed(const RowContext<T>& c) {
  const MatrixView<const T> values = c.values();
  Matrix<T> transposed(values.cols(), values.rows());
  for (Index j = 0; j < values.rows(); ++j) {
    for (Index x = 0; x < values.cols(); ++x) transposed(x, j) = values(j, x);
  }
  return row_of_weights<T>(c, c.row.weights, transposed.view());
}

// softcap tanh((s + mask) / softcap): masked keys come back with a score of -softcap.
template <class T>
Made<T> softcap_after_mask(const RowContext<T>& c) {
  using std::tanh;
  using A = OracleType<T>;
  const A softcap(c.options.softcap);
  std::vector<A> scores = c.row.masked;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const bool masked = std::isinf(static_cast<double>(scores[j]));
    scores[j] = masked ? -softcap : softcap * tanh((c.row.raw[j] + (scores[j] - c.row.capped[j])) / softcap);
  }
  return row_of_scores(c, std::move(scores));
}

// Rows without a key: softmax of nothing. The others are right.
template <class T>
Made<T> empty_rows(const RowContext<T>& c, bool nan) {
  using A = OracleType<T>;
  if (sees_a_key(c)) return std::nullopt;
  const double each = nan ? std::numeric_limits<double>::quiet_NaN() : 1 / static_cast<double>(c.shape.seq_k);
  return row_of_weights(c, std::vector<A>(c.row.weights.size(), A(each)), c.values());
}

template <class T>
Made<T> mean_of_values(const RowContext<T>& c) {
  using A = OracleType<T>;
  std::vector<A> scores = c.row.masked;
  for (A& score : scores) score = std::isinf(static_cast<double>(score)) ? score : A(0);
  return row_of_scores(c, std::move(scores), 0);
}

template <class T>
Made<T> zeros(const RowContext<T>& c) {
  return row_of_weights(c, std::vector<OracleType<T>>(c.row.weights.size()), c.values());
}

template <class T>
Made<T> not_normalised(const RowContext<T>& c) {
  using std::exp;
  using A = OracleType<T>;
  A row_max = -std::numeric_limits<A>::infinity();
  for (const A& score : c.row.masked) row_max = score > row_max ? score : row_max;
  if (std::isinf(static_cast<double>(row_max))) return std::nullopt;
  std::vector<A> weights;
  for (const A& score : c.row.masked) weights.push_back(exp(score - row_max));
  return row_of_weights(c, weights, c.values());
}

}  // namespace attn::mistaken
