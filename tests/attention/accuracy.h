// How far an output is from the oracle.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "random_problem.h"
#include "verify/oracle.h"

namespace attn {

// The oracle's rows of every head: [batch * heads + head][row].
template <class T>
std::vector<std::vector<OracleRow<T>>> oracle_of(OwnedProblem<T>& problem, const AttentionOptions<T>& options) {
  std::vector<std::vector<OracleRow<T>>> heads;
  for (Index b = 0; b < problem.shape.batch; ++b) {
    for (Index h = 0; h < problem.shape.heads; ++h) heads.push_back(oracle_head(problem.tensors(), options, b, h));
  }
  return heads;
}

// The largest |o - o*|; infinite where one is NaN and the other is not.
template <class T>
double worst_error(const OwnedProblem<T>& problem, const std::vector<T>& o, const std::vector<std::vector<OracleRow<T>>>& oracle) {
  double worst = 0;
  const AttentionShape& s = problem.shape;
  for (std::size_t head = 0; head < oracle.size(); ++head) {
    for (Index i = 0; i < s.seq_q; ++i) {
      for (Index x = 0; x < s.head_dim_v; ++x) {
        const auto expected = static_cast<long double>(oracle[head][static_cast<std::size_t>(i)].output[static_cast<std::size_t>(x)]);
        const long double found =
            o[(head * static_cast<std::size_t>(s.seq_q) + static_cast<std::size_t>(i)) * static_cast<std::size_t>(s.head_dim_v) +
              static_cast<std::size_t>(x)];
        if (std::isnan(expected) && std::isnan(found)) continue;
        if (expected == found) continue;
        const auto error = static_cast<double>(std::abs(found - expected));
        worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<double>::infinity();
      }
    }
  }
  return worst;
}

// The largest |o*|.
template <class T>
double largest_output(const std::vector<std::vector<OracleRow<T>>>& oracle) {
  double largest = 0;
  for (const auto& head : oracle) {
    for (const auto& row : head) {
      for (const auto& o : row.output) largest = std::max(largest, std::abs(static_cast<double>(o)));
    }
  }
  return largest;
}

// The largest ratio of |o - o*| to what rounding in T explains, from the norms of the inputs:
//
//   eps sum_j p_j |v_jx|  +  8 eps sum_j p_j (|v_jx| + |v_jx - o*_x| softmax_scale sum_t |q_it k_jt|),   eps half a unit in the last place
//
// the roundings of weights and output, then those of the sums, of which the scores' come through the softmax multiplied by v - o.
template <class T>
double worst_excess(OwnedProblem<T>& problem, const AttentionOptions<T>& options, const std::vector<T>& o,
                    const std::vector<std::vector<OracleRow<T>>>& oracle) {
  const AttentionShape& s = problem.shape;
  const AttentionTensors<T> tensors = problem.tensors();
  const double scale = std::abs(softmax_scale_of(s, options));
  const double eps = std::numeric_limits<T>::epsilon() / 2;
  double worst = 0;
  for (Index head = 0; head < s.batch * s.heads; ++head) {
    const Index b = head / s.heads;
    const Index h = head % s.heads;
    const MatrixView<const T> k = tensors.k.head(b, s.kv_head_of(h));
    const MatrixView<const T> v = tensors.v.head(b, s.kv_head_of(h));
    for (Index i = 0; i < s.seq_q; ++i) {
      const OracleRow<T>& row = oracle[static_cast<std::size_t>(head)][static_cast<std::size_t>(i)];
      std::vector<double> allowed(static_cast<std::size_t>(s.head_dim_v), std::numeric_limits<T>::min());
      for (Index j = 0; j < s.seq_k; ++j) {
        const auto p = static_cast<double>(row.weights[static_cast<std::size_t>(j)]);
        double norm = 0;
        for (Index t = 0; t < s.head_dim; ++t)
          norm += std::abs(static_cast<double>(tensors.q.head(b, h)(i, t)) * static_cast<double>(k(j, t)));
        for (Index x = 0; x < s.head_dim_v; ++x) {
          const auto at = static_cast<std::size_t>(x);
          const double value = v(j, x);
          const double distance = std::abs(value - static_cast<double>(row.output[at]));
          allowed[at] += eps * p * (std::abs(value) + 8 * (std::abs(value) + distance * scale * norm));
        }
      }
      for (Index x = 0; x < s.head_dim_v; ++x) {
        const auto at = static_cast<std::size_t>(x);
        const long double found = o[static_cast<std::size_t>((head * s.seq_q + i) * s.head_dim_v + x)];
        const auto error = static_cast<double>(std::abs(found - static_cast<long double>(row.output[at])));
        worst = std::max(worst, std::isfinite(error) ? error / allowed[at] : std::numeric_limits<double>::infinity());
      }
    }
  }
  return worst;
}

}  // namespace attn
