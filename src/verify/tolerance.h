// How far an attention output may lie from the oracle's, from the inputs and not from taste.
//
// Row i, column x of the output is o = sum_j p_j v_jx with p = softmax(s), s_j = scale sum_t q_it k_jt. To first order in the rounding:
//
//   rounding o itself, and the weights to o's type before they meet V:        eps_out (|o*| + sum_j p_j |v_jx|)
//   adding up o:                                                              eps_acc sum_j p_j |v_jx|
//   an error e_j of score j changes p_j by p_j (e_j - sum_l p_l e_l), and so o by sum_j p_j e_j (v_jx - o*);
//   the dot product's error is |e_j| <= eps_acc scale sum_t |q_it k_jt|:      eps_acc sum_j p_j |v_jx - o*| scale sum_t |q_it k_jt|
//
//   |o - o*| <= eps_out (|o*| + sum_j p_j |v_jx|) + c eps_acc sum_j p_j (|v_jx| + |v_jx - o*| scale sum_t |q_it k_jt|)
//
// eps_out is half an ulp at 1 of o's type, eps_acc that of the type the sums were kept in, c = 8 covers sums that are added in no
// particular order. A softcap only shrinks an error (|tanh'| <= 1). An additive mask m is rounded with the score it is added to, so that
// |m_j| joins scale sum_t |q_it k_jt|. Where o is tiny it is rounded to the type's smallest numbers: half of one is allowed too. Higham,
// Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 and 3.5.
#pragma once

#include <span>
#include <vector>

#include "attention/problem.h"
#include "verify/oracle.h"

namespace attn {

struct Tolerance {
  double eps_out = 0;
  double eps_acc = 0;
  double c = 8;
  double tiny = 0;  // half the smallest positive number of o's type
};

// For an output of type T whose sums were kept in T.
template <class T>
Tolerance tolerance_of();

// For each key of row i how large a score's terms are together: scale sum_t |q_it k_jt| + |m_j|, where it has weight.
template <class T>
std::vector<double> score_magnitudes(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h, Index i,
                                     std::span<const double> weights);

// The allowed difference of each column of the row `output` = weights values, whose scores' terms are as large as `magnitudes`.
template <class T>
std::vector<double> allowed_differences(MatrixView<const T> values, std::span<const double> weights, std::span<const double> output,
                                        std::span<const double> magnitudes, const Tolerance& tolerance);

// The allowed difference of each of head_dim_v elements of row i, whose oracle is `row`. T is float or double, as of the tensors.
template <class T>
std::vector<double> allowed_differences(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h, Index i,
                                        const OracleRow<T>& row, const Tolerance& tolerance);

}  // namespace attn
