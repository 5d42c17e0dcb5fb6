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
// particular order. A softcap only shrinks an error (|tanh'| <= 1); a mask is added exactly up to eps of the masked score, which c covers
// too. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 and 3.5.
#pragma once

#include <vector>

#include "attention/problem.h"
#include "verify/oracle.h"

namespace attn {

struct Tolerance {
  double eps_out = 0;
  double eps_acc = 0;
  double c = 8;
};

// For an output of type T whose sums were kept in T.
template <class T>
Tolerance tolerance_of();

// The allowed difference of each of head_dim_v elements of row i, whose oracle is `row`. T is float or double, as of the tensors.
template <class T>
std::vector<double> allowed_differences(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h, Index i,
                                        const OracleRow<T>& row, const Tolerance& tolerance);

}  // namespace attn
