#include "attention/score_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/score_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "attention/exp-inl.h"
#include "attention/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

template <class T>
void cap_row(T* row, Index cols, T softcap) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V cap = hn::Set(d, softcap);
  for_each_vector(d, row, cols, T{0},
                  [&](V s, Index j, Index count) HWY_ATTR { store_first(d, hn::Mul(cap, tanh(d, hn::Div(s, cap))), row + j, count); });
}

void cap_row_f32(float* row, Index cols, float softcap) { cap_row(row, cols, softcap); }
void cap_row_f64(double* row, Index cols, double softcap) { cap_row(row, cols, softcap); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {

HWY_EXPORT(cap_row_f32);
HWY_EXPORT(cap_row_f64);

void cap_scores(float* row, Index cols, float softcap) { HWY_DYNAMIC_DISPATCH(cap_row_f32)(row, cols, softcap); }
void cap_scores(double* row, Index cols, double softcap) { HWY_DYNAMIC_DISPATCH(cap_row_f64)(row, cols, softcap); }

}  // namespace attn
#endif  // HWY_ONCE
