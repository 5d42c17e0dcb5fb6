// How far an output is from the oracle.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "random_problem.h"
#include "verify/oracle.h"

namespace attn {

// The oracle's answer to a problem, and how much of a difference rounding in T explains.
template <class T>
struct Expected {
  std::vector<OracleRow<T>> rows;  // [batch][head][query]
  std::vector<double> allowed;     // [batch][head][query][head_dim_v]
  double largest = 0;              // |o*|
};

// What rounding explains in a row, from the norms of the inputs, for every column x:
//
//   eps sum_j p_j |v_jx|  +  8 eps sum_j p_j (|v_jx| + |v_jx - o*_x| softmax_scale sum_t |q_it k_jt|),   eps half a unit in the last place
//
// the roundings of weights and output, then those of the sums, of which the scores' come through the softmax multiplied by v - o.
template <class T>
std::vector<double> allowed_errors(const OracleRow<T>& row, const T* q, MatrixView<const T> k, MatrixView<const T> v, double scale) {
  const double eps = std::numeric_limits<T>::epsilon() / 2;
  std::vector<double> allowed(row.output.size(), std::numeric_limits<T>::min());
  for (Index j = 0; j < k.rows(); ++j) {
    double norm = 0;
    for (Index t = 0; t < k.cols(); ++t) norm += std::abs(static_cast<double>(q[t]) * static_cast<double>(k(j, t)));
    const auto p = static_cast<double>(row.weights[static_cast<std::size_t>(j)]);
    for (std::size_t x = 0; x < allowed.size(); ++x) {
      const double value = v(j, static_cast<Index>(x));
      allowed[x] += eps * p * (9 * std::abs(value) + 8 * std::abs(value - static_cast<double>(row.output[x])) * std::abs(scale) * norm);
    }
  }
  return allowed;
}

template <class T>
Expected<T> expect(OwnedProblem<T>& problem, const AttentionOptions<T>& options) {
  const AttentionShape& s = problem.shape;
  const AttentionTensors<T> tensors = problem.tensors();
  Expected<T> expected;
  for (Index head = 0; head < s.batch * s.heads; ++head) {
    const Index b = head / s.heads;
    const Index h = head % s.heads;
    Index i = 0;
    for (OracleRow<T>& row : oracle_head(tensors, options, b, h)) {
      const std::vector<double> allowed = allowed_errors<T>(row, tensors.q.head(b, h).row(i++), tensors.k.head(b, s.kv_head_of(h)),
                                                            tensors.v.head(b, s.kv_head_of(h)), softmax_scale_of(s, options));
      expected.allowed.insert(expected.allowed.end(), allowed.begin(), allowed.end());
      for (const auto& o : row.output) expected.largest = std::max(expected.largest, std::abs(static_cast<double>(o)));
      expected.rows.push_back(std::move(row));
    }
  }
  return expected;
}

// |found - expected|; infinite where one is infinite or NaN and the other is not the same.
template <class T, class Wide>
double difference(T found, const Wide& expected) {
  const auto wide = static_cast<long double>(expected);
  if (found == wide || (std::isnan(found) && std::isnan(wide))) return 0;
  const auto error = static_cast<double>(std::abs(found - wide));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

struct WorstError {
  double absolute = 0;
  double of_allowed = 0;  // as a multiple of Expected::allowed
};

// The worst error of o, contiguous (batch, heads, seq_q, head_dim_v).
template <class T>
WorstError worst_error(const std::vector<T>& o, const Expected<T>& expected) {
  WorstError worst;
  std::size_t at = 0;
  for (const auto& row : expected.rows) {
    for (const auto& x : row.output) {
      const double error = difference(o[at], x);
      worst.absolute = std::max(worst.absolute, error);
      worst.of_allowed = std::max(worst.of_allowed, error / expected.allowed[at]);
      ++at;
    }
  }
  return worst;
}

// The worst error of lse, contiguous (batch, heads, seq_q).
template <class T>
double worst_lse_error(const std::vector<T>& lse, const Expected<T>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < lse.size(); ++i) worst = std::max(worst, difference(lse[i], expected.rows[i].lse));
  return worst;
}

// Whether two results are the same, bit for bit.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace attn
