// One row of scores through the stages of problem.h, in place.
#pragma once

#include "attention/problem.h"
#include "attention/visibility.h"

namespace attn {

// row[j] = softcap * tanh(row[j] / softcap) for 0 <= j < cols.
void cap_scores(float* row, Index cols, float softcap);
void cap_scores(double* row, Index cols, double softcap);

// Adds the mask's entries of row (b, h, i) to row[0, seq_k), or puts -inf where the key takes no part.
template <class T>
void mask_scores(T* row, const AttentionShape& shape, const AttentionOptions<T>& options, Index b, Index h, Index i) {
  constexpr T forbidden = -std::numeric_limits<T>::infinity();
  const KeyRange range = visible_range(shape, options, b, i);
  std::fill(row, row + range.first, forbidden);
  std::fill(row + range.last, row + shape.seq_k, forbidden);
  const MaskView<T>& mask = options.mask;
  const Index at = mask.row_offset(b, h, i);
  if (mask.visible != nullptr) {
    for (Index j = range.first; j < range.last; ++j) row[j] = mask.visible[at + j * mask.key_stride] != 0 ? row[j] : forbidden;
  }
  if (mask.additive != nullptr) {
    for (Index j = range.first; j < range.last; ++j) {
      const T bias = mask.additive[at + j * mask.key_stride];
      row[j] = bias == forbidden ? forbidden : row[j] + bias;
    }
  }
}

}  // namespace attn
