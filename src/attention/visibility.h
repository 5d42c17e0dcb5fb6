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

// Number of (query, key) pairs in the visible ranges of all heads: what a throughput counts.
template <class T>
double visible_pairs(const AttentionShape& shape, const AttentionOptions<T>& options) {
  double pairs = 0;
  for (Index b = 0; b < shape.batch; ++b) {
    for (Index i = 0; i < shape.seq_q; ++i) pairs += static_cast<double>(visible_range(shape, options, b, i).size());
  }
  return pairs * static_cast<double>(shape.heads);
}

}  // namespace attn
