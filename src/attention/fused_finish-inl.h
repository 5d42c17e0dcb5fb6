// The end of the fused kernel: partial results merged, outputs divided by the sums of their weights, log-sum-exp.
#if defined(ATTN_ATTENTION_FUSED_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_FINISH_INL_H_
#undef ATTN_ATTENTION_FUSED_FINISH_INL_H_
#else
#define ATTN_ATTENTION_FUSED_FINISH_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/fused_job.h"
#include "attention/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// Writes row `row` of `head`: o = weighted / sum, lse = maximum + log(sum). A sum of 0 is a row without visible keys, or with nothing but
// -inf: its weighted values are zeros, or NaN from a NaN among them, and stay that.
template <class T>
void finish_row(const FusedJob<T>& job, const HeadRows& rows, Index row, const T* weighted, T maximum, T sum) {
  const Index head = job.head_of(rows, row);
  const Index query = job.query_of(row);
  const hn::ScalableTag<T> d;
  const auto divisor = hn::Set(d, sum == 0 ? T{1} : sum);
  T* o = job.tensors.o.head(rows.b, head).row(query);
  for_each_vector(d, weighted, job.shape.head_dim_v, T{0},
                  [&](auto w, Index x, Index count) HWY_ATTR { store_first(d, hn::Div(w, divisor), o + x, count); });
  if (job.lse == nullptr) return;
  const double lse =
      job.natural ? maximum + std::log(static_cast<double>(sum)) : (maximum + std::log2(static_cast<double>(sum))) * 0.69314718055994530942;
  job.lse[(rows.b * job.shape.heads + head) * job.shape.seq_q + query] = static_cast<T>(lse);
}

// Row `row` of a block whose keys were split: its partial maxima, sums and outputs, weighted by what the common maximum makes of them.
template <class T>
void merge_row(const FusedJob<T>& job, const FusedMerge& merge, Index row) {
  const Index columns = padded_dim_v<T>(job.shape);
  T maximum = -std::numeric_limits<T>::infinity();
  for (Index part = 0; part < merge.parts; ++part) maximum = std::max(maximum, job.partial_row(merge.first_partial + part, row)[columns]);
  const T subtracted = maximum == -std::numeric_limits<T>::infinity() ? T{0} : maximum;
  T* const merged = job.partial_row(merge.first_partial, row);
  T sum = 0;
  for (Index part = 0; part < merge.parts; ++part) {
    const T* from = job.partial_row(merge.first_partial + part, row);
    const T below = from[columns] - subtracted;
    const T weight = job.natural ? std::exp(below) : std::exp2(below);
    sum += from[columns + 1] * weight;
    for (Index x = 0; x < columns; ++x) merged[x] = (part == 0 ? T{0} : merged[x]) + weight * from[x];
  }
  finish_row(job, merge.head, merge.first_row + row, merged, maximum, sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
