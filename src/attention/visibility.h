// Which keys a query sees.
#pragma once

#include <algorithm>
#include <limits>

#include "attention/problem.h"

namespace attn {

// Keys [first, last).
struct KeyRange {
  Index first = 0;
  Index last = 0;

  bool empty() const { return first >= last; }
  Index size() const { return empty() ? 0 : last - first; }
  bool contains(Index j) const { return first <= j && j < last; }
};

// The keys that query i of batch b may see by causality, window, key length and the mask's number of keys; entries of the mask apart.
template <class T>
KeyRange visible_range(const AttentionShape& shape, const AttentionOptions<T>& options, Index b, Index i) {
  constexpr Index far = Index{1} << 62;  // no sum of two such positions leaves 64 bits
  const Index position = i + options.offset_of(b);
  KeyRange range{0, shape.seq_k};
  if (options.mask.exists()) range.last = options.mask.keys;
  if (!options.key_lengths.empty()) range.last = std::min(range.last, options.key_lengths[static_cast<std::size_t>(b)]);
  if (options.causal) range.last = std::min(range.last, position + 1);
  if (options.window_right < far) range.last = std::min(range.last, position + 1 + options.window_right);
  if (options.window_left < far) range.first = std::max(range.first, position - options.window_left);
  range.first = std::min(range.first, shape.seq_k);
  range.last = std::max(range.last, range.first);
  return range;
}

// Whether key j takes part in row i of head h, all modifiers considered.
template <class T>
bool is_visible(const AttentionShape& shape, const AttentionOptions<T>& options, Index b, Index h, Index i, Index j) {
  if (!visible_range(shape, options, b, i).contains(j)) return false;
  const MaskView<T>& mask = options.mask;
  const Index at = mask.row_offset(b, h, i) + j * mask.key_stride;
  if (mask.visible != nullptr) return mask.visible[at] != 0;
  return mask.additive == nullptr || mask.additive[at] != -std::numeric_limits<T>::infinity();
}

// Whether the options can hide a key from a query at all.
template <class T>
bool can_mask(const AttentionOptions<T>& options) {
  return options.mask.exists() || options.causal || options.window_left != unlimited || options.window_right != unlimited ||
         !options.key_lengths.empty();
}

// sum over i in [0, rows) of min(max(i + shift, 0), most), in closed form: a sweep's rows may have any length.
inline double clamped_ramp_sum(Index rows, Index shift, Index most) {
  // The sum over u in [0, t) of min(u, most): a triangle, then a plateau.
  const auto below = [most](double t) {
    const double top = static_cast<double>(most);
    if (t <= 0) return 0.0;
    return t <= top + 1 ? t * (t - 1) / 2 : top * (top + 1) / 2 + (t - top - 1) * top;
  };
  return below(static_cast<double>(rows) + static_cast<double>(shift)) - below(static_cast<double>(shift));
}

// Number of (query, key) pairs in the visible ranges of all heads: what a throughput counts.
template <class T>
double visible_pairs(const AttentionShape& shape, const AttentionOptions<T>& options) {
  constexpr Index far = Index{1} << 62;  // as in visible_range
  double pairs = 0;
  for (Index b = 0; b < shape.batch; ++b) {
    Index most = options.mask.exists() ? std::min(shape.seq_k, options.mask.keys) : shape.seq_k;
    if (!options.key_lengths.empty()) most = std::min(most, options.key_lengths[static_cast<std::size_t>(b)]);
    const Index offset = options.offset_of(b);
    const Index right = options.causal ? 0 : options.window_right;
    const double rows = static_cast<double>(shape.seq_q);
    pairs += right < far ? clamped_ramp_sum(shape.seq_q, offset + 1 + std::min(right, options.window_right), most)
                         : rows * static_cast<double>(most);
    if (options.window_left < far) pairs -= clamped_ramp_sum(shape.seq_q, offset - options.window_left, most);
  }
  return pairs * static_cast<double>(shape.heads);
}

}  // namespace attn
