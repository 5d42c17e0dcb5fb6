#include "attention/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "machine/parallel.h"
#include "machine/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/softmax.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "attention/exp-inl.h"
#include "attention/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// Three passes over a row, which after the first lies in a cache: its maximum; the exponentials and their sum; the division. The second
// fetches the next row, so that the first of that one need not wait for memory.
template <class T>
T row_softmax(const T* scores, T* weights, Index cols, const T* next) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr T lowest = -std::numeric_limits<T>::infinity();

  V maxima = hn::Set(d, lowest);
  for_each_vector(d, scores, cols, lowest, [&](V s, Index, Index) HWY_ATTR { maxima = hn::Max(maxima, s); });
  T row_max = hn::GetLane(hn::MaxOfLanes(d, maxima));
  if (row_max == lowest) row_max = 0;  // keeps -inf - row_max from being NaN

  // Summed in two levels: one long chain, next to a weight of nearly 1, would round every small weight against it.
  constexpr Index block = 16 * static_cast<Index>(hn::MaxLanes(d));
  V sums = hn::Zero(d);
  const V subtracted = hn::Set(d, row_max);
  for (Index begin = 0; begin < cols; begin += block) {
    V block_sums = hn::Zero(d);
    for_each_vector(d, scores + begin, std::min(block, cols - begin), lowest, [&](V s, Index j, Index count) HWY_ATTR {
      const V e = exp_nonpositive(d, hn::Sub(s, subtracted));
      block_sums = hn::Add(block_sums, e);
      if (next != nullptr) __builtin_prefetch(next + begin + j);
      store_first(d, e, weights + begin + j, count);
    });
    sums = hn::Add(sums, block_sums);
  }
  const T row_sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (row_sum == 0) return lowest;

  const V divisor = hn::Set(d, row_sum);
  for_each_vector(d, weights, cols, T{0},
                  [&](V e, Index j, Index count) HWY_ATTR { store_first(d, hn::Div(e, divisor), weights + j, count); });
  return row_max + std::log(row_sum);
}

float row_softmax_f32(const float* scores, float* weights, Index cols, const float* next) {
  return row_softmax(scores, weights, cols, next);
}
double row_softmax_f64(const double* scores, double* weights, Index cols, const double* next) {
  return row_softmax(scores, weights, cols, next);
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(row_softmax_f32);
HWY_EXPORT(row_softmax_f64);

template <class T>
void rows(MatrixView<const T> scores, MatrixView<T> weights, T* lse) {
  if (scores.rows() != weights.rows() || scores.cols() != weights.cols()) {
    throw UsageError("softmax: weights: expected the shape of the scores, (" + std::to_string(scores.rows()) + ", " +
                     std::to_string(scores.cols()) + "), found (" + std::to_string(weights.rows()) + ", " + std::to_string(weights.cols()) +
                     ")");
  }
  // About 2^15 elements at a time: long enough to hide the hand-out, short enough to end together.
  const Index chunk = std::max<Index>(1, 32768 / std::max<Index>(1, scores.cols()));
  parallel_for((scores.rows() + chunk - 1) / chunk, threads(), [&](Index part) {
    const Index last = std::min(scores.rows(), (part + 1) * chunk);
    for (Index i = part * chunk; i < last; ++i) {
      const T row_lse = softmax_row(scores.row(i), weights.row(i), scores.cols(), i + 1 < last ? scores.row(i + 1) : nullptr);
      if (lse != nullptr) lse[i] = row_lse;
    }
  });
}

}  // namespace

float softmax_row(const float* scores, float* weights, Index cols, const float* next) {
  return HWY_DYNAMIC_DISPATCH(row_softmax_f32)(scores, weights, cols, next);
}

double softmax_row(const double* scores, double* weights, Index cols, const double* next) {
  return HWY_DYNAMIC_DISPATCH(row_softmax_f64)(scores, weights, cols, next);
}

void softmax_rows(MatrixView<const float> scores, MatrixView<float> weights, float* lse) { rows(scores, weights, lse); }
void softmax_rows(MatrixView<const double> scores, MatrixView<double> weights, double* lse) { rows(scores, weights, lse); }

}  // namespace attn
#endif  // HWY_ONCE
