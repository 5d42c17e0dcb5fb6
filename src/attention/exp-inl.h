// exp and its relatives on vectors of float32 and float64, accurate to about one unit in the last place over the whole range
// (1.3 at most).
//
// As usual (Cody and Waite, "Software Manual for the Elementary Functions", 1980): x = n log 2 + r, e^x = 2^n P(r) with a minimax
// polynomial P. P(0) = 1 exactly, so exp(0) is 1. Subnormal results are rounded once, -inf gives exactly 0, NaN stays NaN.
//
// exp2_nonpositive is the one inside attention's inner loop, where x = s - max s <= 0: on AVX-512 it is a remainder, a subtraction, six
// multiply-adds (eleven for float64) and a scaling, with no clamp.
//
// No include guard: Highway includes this once per target (the lines below are its idiom).
#if defined(ATTN_ATTENTION_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_EXP_INL_H_
#undef ATTN_ATTENTION_EXP_INL_H_
#else
#define ATTN_ATTENTION_EXP_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include "attention/exp_coefficients.h"
#include "hwy/highway.h"

// AVX-512 has instructions for the remainder and for x * 2^floor(n) that are right at every edge.
#undef ATTN_HAS_SCALEF
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define ATTN_HAS_SCALEF 1
#else
#define ATTN_HAS_SCALEF 0
#endif

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// x * (c_1 + x (c_2 + x (...)))
template <class D, class V, std::size_t N>
HWY_INLINE V polynomial_without_constant(D d, V x, const std::array<hn::TFromD<D>, N>& c) {
  V sum = hn::Set(d, c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return hn::Mul(sum, x);
}

// 1 + x (c_1 + x (c_2 + x (...)))
template <class D, class V, std::size_t N>
HWY_INLINE V polynomial(D d, V x, const std::array<hn::TFromD<D>, N>& c) {
  V sum = hn::Set(d, c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return hn::MulAdd(sum, x, hn::Set(d, hn::TFromD<D>{1}));
}

// max(x, bound) and min(x, bound) that keep a NaN on every target.
template <class D, class V>
HWY_INLINE V clamp_below(D d, V x, hn::TFromD<D> bound) {
  const V b = hn::Set(d, bound);
  return hn::IfThenElse(hn::Lt(x, b), b, x);
}
template <class D, class V>
HWY_INLINE V clamp_above(D d, V x, hn::TFromD<D> bound) {
  const V b = hn::Set(d, bound);
  return hn::IfThenElse(hn::Lt(b, x), b, x);
}

#if ATTN_HAS_SCALEF
// x less the nearest integer, exactly; 0 for infinities.
HWY_INLINE hn::Vec<hn::ScalableTag<float>> remainder(hn::Vec<hn::ScalableTag<float>> x) {
  return hn::Vec<hn::ScalableTag<float>>{_mm512_reduce_ps(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
HWY_INLINE hn::Vec<hn::ScalableTag<double>> remainder(hn::Vec<hn::ScalableTag<double>> x) {
  return hn::Vec<hn::ScalableTag<double>>{_mm512_reduce_pd(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
// x * 2^floor(n), rounded once.
HWY_INLINE hn::Vec<hn::ScalableTag<float>> scale_by_power(hn::Vec<hn::ScalableTag<float>> x, hn::Vec<hn::ScalableTag<float>> n) {
  return hn::Vec<hn::ScalableTag<float>>{_mm512_scalef_ps(x.raw, n.raw)};
}
HWY_INLINE hn::Vec<hn::ScalableTag<double>> scale_by_power(hn::Vec<hn::ScalableTag<double>> x, hn::Vec<hn::ScalableTag<double>> n) {
  return hn::Vec<hn::ScalableTag<double>>{_mm512_scalef_pd(x.raw, n.raw)};
}
#endif

// Adding this number, 1.5 * 2^mantissa_bits + bias, rounds x to an integer n and leaves n + bias in the lowest bits of the sum.
template <class T>
constexpr T rounding_constant(int bias) {
  return static_cast<T>(std::int64_t{3} << (ExpCoefficients<T>::mantissa_bits - 1)) + static_cast<T>(bias);
}

// The number whose exponent field is in the lowest bits of `sum`: 2^n where those hold n + exponent_bias.
template <class D, class V>
HWY_INLINE V power_from_low_bits(D d, V sum) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::ShiftLeft<ExpCoefficients<hn::TFromD<D>>::mantissa_bits>(hn::BitCast(du, sum)));
}

// 2^n for an integer-valued n that is a normal number's exponent.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V n) {
  using T = hn::TFromD<D>;
  return power_from_low_bits(d, hn::Add(n, hn::Set(d, rounding_constant<T>(ExpCoefficients<T>::exponent_bias))));
}

// x to the nearest integer, for |x| far below 2^mantissa_bits.
template <class D, class V>
HWY_INLINE V nearest(D d, V x) {
  const V magic = hn::Set(d, rounding_constant<hn::TFromD<D>>(0));
  return hn::Sub(hn::Add(x, magic), magic);
}

// x * 2^n by two factors, each of them normal; the second product rounds.
template <class D, class V>
HWY_INLINE V scale_in_two(D d, V x, V n) {
  const V half = nearest(d, hn::Mul(n, hn::Set(d, hn::TFromD<D>{0.5F})));
  return hn::Mul(hn::Mul(x, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
}

// 2^x for x <= 0, -inf or NaN.
template <class D, class V>
HWY_INLINE V exp2_nonpositive(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpCoefficients<T>;
#if ATTN_HAS_SCALEF
  const V fraction = remainder(x);
  return scale_by_power(polynomial(d, fraction, C::exp2), hn::Sub(x, fraction));
#else
  // The power is taken 2^lift too large, so that it is normal even where the result is not; the last product rounds.
  const V magic = hn::Set(d, rounding_constant<T>(C::exponent_bias + C::lift));
  const V clamped = clamp_below(d, x, C::lowest_exp2);
  const V sum = hn::Add(clamped, magic);
  const V fraction = hn::Sub(clamped, hn::Sub(sum, magic));
  const V lifted = hn::Mul(polynomial(d, fraction, C::exp2), power_from_low_bits(d, sum));
  return hn::Mul(lifted, hn::Set(d, C::lower));
#endif
}

// Parts of e^x for clamped x: n and r with x = n log 2 + r.
template <class D, class V>
HWY_INLINE void reduce_exponent(D d, V x, V& n, V& r) {
  using C = ExpCoefficients<hn::TFromD<D>>;
  const V magic = hn::Set(d, rounding_constant<hn::TFromD<D>>(0));
  n = hn::Sub(hn::MulAdd(x, hn::Set(d, static_cast<hn::TFromD<D>>(1.44269504088896340736)), magic), magic);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), r);
}

// e^x for x <= 0, -inf or NaN.
template <class D, class V>
HWY_INLINE V exp_nonpositive(D d, V x) {
  using C = ExpCoefficients<hn::TFromD<D>>;
  V n, r;
#if ATTN_HAS_SCALEF
  reduce_exponent(d, hn::Max(hn::Set(d, C::lowest_exp), x), n, r);  // the instruction returns its second operand if one is NaN
  return scale_by_power(polynomial(d, r, C::exp), n);
#else
  reduce_exponent(d, clamp_below(d, x, C::lowest_exp), n, r);
  return scale_in_two(d, polynomial(d, r, C::exp), n);
#endif
}

// e^x for any x.
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpCoefficients<T>;
  V n, r;
  reduce_exponent(d, clamp_above(d, clamp_below(d, x, C::lowest_exp), C::highest_exp), n, r);
  const V p = polynomial(d, r, C::exp);
#if ATTN_HAS_SCALEF
  return scale_by_power(p, n);
#else
  return scale_in_two(d, p, n);
#endif
}

// tanh(x) = (e^2x - 1) / (e^2x + 1), with e^2x - 1 = 2^n (P(r) - 1) + (2^n - 1) so that small x loses nothing. About 3 units in the last
// place.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpCoefficients<T>;
  const V magnitude = clamp_above(d, hn::Abs(x), C::tanh_one);
  V n, r;
  reduce_exponent(d, hn::Add(magnitude, magnitude), n, r);
  const V power = power_of_two(d, n);
  const V minus_one = hn::MulAdd(power, polynomial_without_constant(d, r, C::exp), hn::Sub(power, hn::Set(d, T{1})));
  return hn::CopySign(hn::Div(minus_one, hn::Add(minus_one, hn::Set(d, T{2}))), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
