#include "attention/score_rows.h"

#include <algorithm>

#include "attention/visibility.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/score_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "attention/modifiers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

void cap_f32(float* row, Index cols, float softcap) { cap_scores(row, cols, softcap); }
void cap_f64(double* row, Index cols, double softcap) { cap_scores(row, cols, softcap); }
void mask_f32(float* scores, const MaskView<float>& mask, Index at, Index count) { apply_mask(scores, mask, at, count); }
void mask_f64(double* scores, const MaskView<double>& mask, Index at, Index count) { apply_mask(scores, mask, at, count); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(cap_f32);
HWY_EXPORT(cap_f64);
HWY_EXPORT(mask_f32);
HWY_EXPORT(mask_f64);

void mask_entries(float* s, const MaskView<float>& mask, Index at, Index count) { HWY_DYNAMIC_DISPATCH(mask_f32)(s, mask, at, count); }
void mask_entries(double* s, const MaskView<double>& mask, Index at, Index count) { HWY_DYNAMIC_DISPATCH(mask_f64)(s, mask, at, count); }

template <class T>
void mask_row(T* row, const AttentionShape& shape, const AttentionOptions<T>& options, Index b, Index h, Index i) {
  const KeyRange range = visible_range(shape, options, b, i);
  constexpr T forbidden = -std::numeric_limits<T>::infinity();
  std::fill(row, row + range.first, forbidden);
  std::fill(row + range.last, row + shape.seq_k, forbidden);
  const MaskView<T>& mask = options.mask;
  mask_entries(row + range.first, mask, mask.row_offset(b, h, i) + range.first * mask.key_stride, range.size());
}

}  // namespace

void cap_scores(float* row, Index cols, float softcap) { HWY_DYNAMIC_DISPATCH(cap_f32)(row, cols, softcap); }
void cap_scores(double* row, Index cols, double softcap) { HWY_DYNAMIC_DISPATCH(cap_f64)(row, cols, softcap); }

void mask_scores(float* row, const AttentionShape& shape, const AttentionOptions<float>& options, Index b, Index h, Index i) {
  mask_row(row, shape, options, b, h, i);
}

void mask_scores(double* row, const AttentionShape& shape, const AttentionOptions<double>& options, Index b, Index h, Index i) {
  mask_row(row, shape, options, b, h, i);
}

}  // namespace attn
#endif  // HWY_ONCE
