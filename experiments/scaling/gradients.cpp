#include "scaling/gradients.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/softmax.h"

namespace attn {
namespace {

double dot(const double* a, const double* b, std::size_t count) { return std::inner_product(a, a + count, b, 0.0); }

// sum_{j != i} values_j for every i, without subtracting.
std::vector<double> sums_of_others(std::span<const double> values) {
  std::vector<double> sums(values.size());
  double before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[i] = before;
    before += values[i];
  }
  double after = 0;
  for (std::size_t i = values.size(); i-- > 0;) {
    sums[i] += after;
    after += values[i];
  }
  return sums;
}

// J applied to a vector: delta_j = p_j (x_j - sum_l p_l x_l).
std::vector<double> jacobian_times(std::span<const double> weights, std::span<const double> x) {
  const double average = dot(weights.data(), x.data(), x.size());
  std::vector<double> product(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) product[j] = weights[j] * (x[j] - average);
  return product;
}

}  // namespace

GradientKernels::GradientKernels()
    : softmax([](const double* scores, double* weights, Index cols) { softmax_row(scores, weights, cols); }),
      scale([](Index d_k) { return 1 / std::sqrt(static_cast<double>(d_k)); }) {}

JacobianSize jacobian_size(std::span<const double> weights) {
  const std::vector<double> others = sums_of_others(weights);
  JacobianSize size;
  double squares = 0;
  double squares_before = 0;  // sum of p_j^2 over j < i
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double p = weights[i];
    const double diagonal = p * others[i];
    squares += diagonal * diagonal + 2 * p * p * squares_before;
    squares_before += p * p;
    size.largest = std::max(size.largest, diagonal);
  }
  size.norm = std::sqrt(squares);
  return size;
}

QueryGradients query_gradients(const GradientProblem& problem, double scale, const GradientKernels& kernels) {
  const auto seq = static_cast<std::size_t>(problem.k.rows());
  std::vector<double> scores(seq);
  std::vector<double> from_values(seq);  // dL/dp
  for (std::size_t j = 0; j < seq; ++j) {
    const auto row = static_cast<Index>(j);
    scores[j] = scale * dot(problem.q.data(), problem.k.row(row), problem.q.size());
    from_values[j] = dot(problem.upstream.data(), problem.v.row(row), problem.upstream.size());
  }
  std::vector<double> weights(seq);
  kernels.softmax(scores.data(), weights.data(), problem.k.rows());
  const std::vector<double> delta = jacobian_times(weights, from_values);
  QueryGradients gradients{kernels.jacobian(weights), std::vector<double>(problem.q.size())};
  for (std::size_t j = 0; j < seq; ++j) {
    const double* key = problem.k.row(static_cast<Index>(j));
    for (std::size_t e = 0; e < problem.q.size(); ++e) gradients.query[e] += scale * delta[j] * key[e];
  }
  return gradients;
}

}  // namespace attn
