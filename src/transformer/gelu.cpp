#include "transformer/gelu.h"

#include <algorithm>

#include "machine/parallel.h"
#include "machine/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transformer/gelu.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "attention/exp-inl.h"
#include "attention/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

template <class D, class V>
HWY_INLINE V gelu_of(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T minus_two_root = static_cast<T>(-1.59576912160573071176);  // -2 sqrt(2 / pi)
  constexpr T cubic = static_cast<T>(0.044715);
  const V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, cubic), hn::Set(d, T{1}));
  const V exponent = hn::Mul(hn::Mul(hn::Set(d, minus_two_root), x), inner);
  return hn::Div(x, hn::Add(hn::Set(d, T{1}), exp(d, exponent)));
}

template <class T>
void gelu_row(T* row, Index cols) {
  const hn::ScalableTag<T> d;
  for_each_vector(d, row, cols, T{0}, [&](auto x, Index j, Index count) HWY_ATTR { store_first(d, gelu_of(d, x), row + j, count); });
}

void gelu_f32(float* row, Index cols) { gelu_row(row, cols); }
void gelu_f64(double* row, Index cols) { gelu_row(row, cols); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(gelu_f32);
HWY_EXPORT(gelu_f64);

void row_gelu(float* row, Index cols) { HWY_DYNAMIC_DISPATCH(gelu_f32)(row, cols); }
void row_gelu(double* row, Index cols) { HWY_DYNAMIC_DISPATCH(gelu_f64)(row, cols); }

template <class T>
void all_rows(MatrixView<T> x) {
  // About 2^14 elements at a time: some microseconds, long enough to hide the hand-out; fewer are done before a thread wakes up.
  const Index chunk = std::max<Index>(1, 16384 / std::max<Index>(1, x.cols()));
  parallel_for((x.rows() + chunk - 1) / chunk, threads(), [&](Index part) {
    const Index last = std::min(x.rows(), (part + 1) * chunk);
    for (Index i = part * chunk; i < last; ++i) row_gelu(x.row(i), x.cols());
  });
}

}  // namespace

void gelu(MatrixView<float> x) { all_rows(x); }
void gelu(MatrixView<double> x) { all_rows(x); }

}  // namespace attn
#endif  // HWY_ONCE
