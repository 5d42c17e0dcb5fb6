// What saturation does to learning: the gradients that come back through the softmax, for one query and its keys.
//
//   s_j = q.k_j,  p = softmax(c s),  o = sum_j p_j v_j              c = 1 (unscaled) or 1 / sqrt(d_k) (scaled)
//
//   dp_i / d(c s_j) = J_ij = p_i (delta_ij - p_j),                  J = diag(p) - p p^T, symmetric
//
// With g = dL/do, the gradient that comes from above, the chain rule gives
//
//   dL/dp_j = g.v_j,   delta = dL/d(c s) = J dL/dp,   dL/dq = c sum_j delta_j k_j
//
// J is 0 where p has its whole weight on one key: then no score, the others' included, can be learnt from. Its squared Frobenius norm is
//   sum_i (p_i r_i)^2 + 2 sum_{i<j} (p_i p_j)^2,   r_i = sum_{j != i} p_j = 1 - p_i
// (r_i is summed, since 1 - p_i keeps no digit where p_i is nearly 1), and its largest entry in magnitude is on the diagonal, because
// p_i r_i >= p_i p_j for every j != i.
//
// Source: document 1 and document 2 on dividing by sqrt(d_k); Bridle,
// "Probabilistic Interpretation of Feedforward Classification Network Outputs" (1990), for the Jacobian.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

struct JacobianSize {
  double norm = 0;     // Frobenius
  double largest = 0;  // entry by magnitude
};

JacobianSize jacobian_size(std::span<const double> weights);

// One query with its keys, values and upstream gradient: q (d_k), k (seq, d_k), v (seq, d_v), upstream (d_v).
struct GradientProblem {
  std::span<const double> q;
  MatrixView<const double> k, v;
  std::span<const double> upstream;
};

// What the experiment is computed with; tests put faults in, to see them change a verdict.
struct GradientKernels {
  std::function<void(const double* scores, double* weights, Index cols)> softmax;  // default: the library's
  std::function<JacobianSize(std::span<const double> weights)> jacobian = jacobian_size;
  std::function<double(Index d_k)> scale;  // default: 1 / sqrt(d_k)

  GradientKernels();
};

struct QueryGradients {
  JacobianSize jacobian;
  std::vector<double> query;  // dL/dq (d_k)
};

// Everything above for one query; `scale` is c.
QueryGradients query_gradients(const GradientProblem& problem, double scale, const GradientKernels& kernels);

}  // namespace attn
