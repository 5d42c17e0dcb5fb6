// What modifies a row of scores between the product and the softmax: softcap and mask (problem.h has the order).
#if defined(ATTN_ATTENTION_MODIFIERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_MODIFIERS_INL_H_
#undef ATTN_ATTENTION_MODIFIERS_INL_H_
#else
#define ATTN_ATTENTION_MODIFIERS_INL_H_
#endif

#include <limits>

#include "attention/exp-inl.h"
#include "attention/lanes-inl.h"
#include "attention/problem.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// scores[j] = softcap * tanh(scores[j] / softcap) for 0 <= j < count.
template <class T>
HWY_NOINLINE void cap_scores(T* scores, Index count, T softcap) {
  const hn::ScalableTag<T> d;
  const auto cap = hn::Set(d, softcap);
  for_each_vector(d, scores, count, T{0}, [&](auto s, Index j, Index there) HWY_ATTR {
    store_first(d, hn::Mul(cap, tanh(d, hn::Div(s, cap))), scores + j, there);
  });
}

// scores[j] += bias[j], where -inf makes -inf of anything, NaN too.
template <class T>
HWY_NOINLINE void add_bias(T* scores, const T* bias, Index count) {
  const hn::ScalableTag<T> d;
  const auto forbidden = hn::Set(d, -std::numeric_limits<T>::infinity());
  constexpr Index lanes = static_cast<Index>(hn::MaxLanes(d));
  for_each_vector(d, scores, count, T{0}, [&](auto s, Index j, Index there) HWY_ATTR {
    const auto b = there == lanes ? hn::LoadU(d, bias + j) : load_first(d, bias + j, there, T{0});
    store_first(d, hn::IfThenElse(hn::Eq(b, forbidden), forbidden, hn::Add(s, b)), scores + j, there);
  });
}

// Applies the mask's entries from `at` on to the scores of `count` neighbouring keys.
template <class T>
HWY_NOINLINE void apply_mask(T* HWY_RESTRICT scores, const MaskView<T>& mask, Index at, Index count) {
  constexpr T forbidden = -std::numeric_limits<T>::infinity();
  const Index stride = mask.key_stride;
  if (mask.visible != nullptr) {
    const std::uint8_t* HWY_RESTRICT visible = mask.visible + at;
    if (stride == 1) {
      for (Index j = 0; j < count; ++j) scores[j] = visible[j] != 0 ? scores[j] : forbidden;
    } else {
      for (Index j = 0; j < count; ++j) scores[j] = visible[j * stride] != 0 ? scores[j] : forbidden;
    }
  } else if (mask.additive != nullptr) {
    const T* HWY_RESTRICT bias = mask.additive + at;
    if (stride == 1) return add_bias(scores, bias, count);
    for (Index j = 0; j < count; ++j) scores[j] = bias[j * stride] == forbidden ? forbidden : scores[j] + bias[j * stride];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
