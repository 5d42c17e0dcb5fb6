// The oracle: attention by the book (attention/reference.h) in arithmetic far more precise than its input's, for the rows asked for.
//
// float32 and narrower inputs are computed in float64. float64 needs more: long double where that has 64 bits of mantissa or more, else
// pairs of doubles (double_double.h). Either way the oracle's own error is below a thousandth of what is judged by it.
#pragma once

#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "attention/problem.h"
#include "attention/reference.h"
#include "verify/double_double.h"

namespace attn {

// What float64 inputs are computed in.
using WideType = std::conditional_t<(std::numeric_limits<long double>::digits >= 64), long double, DoubleDouble>;

// What inputs of type T are computed in.
template <class T>
using OracleType = std::conditional_t<(sizeof(T) <= sizeof(float)), double, WideType>;

template <class T>
using OracleRow = AttentionRow<OracleType<T>>;

// The given query rows of head h of batch b, in their order: scores at every stage, weights, output and lse. T is float or double. Rows are
// shared out among the threads. Throws UsageError as shape_of and check_options do, and for rows that do not exist.
template <class T>
std::vector<OracleRow<T>> oracle_rows(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h,
                                      std::span<const Index> rows);

// All seq_q rows of the head.
template <class T>
std::vector<OracleRow<T>> oracle_head(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h);

// Numbers of the oracle rounded to float64.
template <class A>
std::vector<double> as_doubles(const std::vector<A>& values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const A& value : values) result.push_back(static_cast<double>(value));
  return result;
}

}  // namespace attn
