// The softmax of the fused kernel, one tile of keys at a time: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
//
//   m' = max(m, max_j s_j)    p_j = 2^(s_j - m')    l' = 2^(m - m') l + sum_j p_j    o' = 2^(m - m') o + sum_j p_j v_j
//
// Scores are in units of log 2, so that exp is 2^x; natural ones are turned when m' is subtracted: s_j - m' is then 0 exactly at the
// maximum, and a mask of the lowest finite number does not overflow.
#if defined(ATTN_ATTENTION_FUSED_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_SOFTMAX_INL_H_
#undef ATTN_ATTENTION_FUSED_SOFTMAX_INL_H_
#else
#define ATTN_ATTENTION_FUSED_SOFTMAX_INL_H_
#endif

#include <cmath>
#include <limits>

#include "attention/exp-inl.h"
#include "attention/fused_block-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// 2^(s - m), or e^(s - m) for natural scores.
template <bool Natural, class D, class V>
HWY_INLINE V weight(D d, V s, V m) {
  V x = hn::Sub(s, m);
  if constexpr (Natural) x = hn::Mul(x, hn::Set(d, static_cast<hn::TFromD<D>>(1.44269504088896340736)));
  return exp2_nonpositive(d, x);
}

// The largest of the scores of columns [first, last), multiples of a vector. With NaN among them it is any of them or NaN.
template <class T>
HWY_INLINE T row_maximum(const T* s, Index first, Index last) {
  const hn::ScalableTag<T> d;
  auto maxima = hn::LoadU(d, s + first);
  for (Index j = first + vector_lanes<T>; j < last; j += vector_lanes<T>) maxima = hn::Max(maxima, hn::LoadU(d, s + j));
  return hn::GetLane(hn::MaxOfLanes(d, maxima));
}

// s = weights of columns [first, last); adds them to the row's sums, rescaled.
template <bool Natural, class T>
HWY_INLINE void weigh_row(T* s, Index first, Index last, T maximum, T rescale, T* row_sums) {
  const hn::ScalableTag<T> d;
  const auto m = hn::Set(d, maximum);
  auto sums = hn::Zero(d);
  for (Index j = first; j < last; j += vector_lanes<T>) {
    const auto p = weight<Natural>(d, hn::LoadU(d, s + j), m);
    sums = hn::Add(sums, p);
    hn::StoreU(p, d, s + j);
  }
  hn::StoreU(hn::MulAdd(hn::Set(d, rescale), hn::LoadU(d, row_sums), sums), d, row_sums);
}

// Turns the scores of a group's `rows` rows from `row` on into weights, in columns [first, last), multiples of a vector; masked scores are
// -inf. Passes: the maxima; what they make of earlier weights, all rows at once; the weights.
template <bool Natural, class T>
HWY_NOINLINE void online_softmax(const BlockState<T>& state, Index row, Index rows, Index first, Index last) {
  constexpr T lowest = -std::numeric_limits<T>::infinity();
  constexpr Index padded = round_up(group_rows, vector_lanes<T>);
  HWY_ALIGN T before[padded] = {};
  HWY_ALIGN T subtracted[padded] = {};
  for (Index r = 0; r < rows; ++r) {
    const T tile_max = row_maximum(state.s + r * tile_keys<T>, first, last);
    T& row_max = state.row_max[row + r];
    before[r] = row_max;
    row_max = tile_max > row_max ? tile_max : row_max;   // a NaN leaves it, and reaches the row through its weight
    subtracted[r] = row_max == lowest ? T{0} : row_max;  // keeps -inf - row_max from being NaN
  }
  const hn::ScalableTag<T> d;
  for (Index r = 0; r < rows; r += vector_lanes<T>) {
    hn::StoreU(weight<Natural>(d, hn::Load(d, before + r), hn::Load(d, subtracted + r)), d, state.rescale + r);
  }
  for (Index r = 0; r < rows; ++r) {
    weigh_row<Natural>(state.s + r * tile_keys<T>, first, last, subtracted[r], state.rescale[r],
                       state.row_sums + (row + r) * vector_lanes<T>);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
