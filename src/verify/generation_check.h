// Did generation with and without a cache of keys and values give the right outputs, and so the same?
//
// Row t of the output is y = o W_o with o = sum_j p_j v_j over the tokens j <= t, head by head, p = softmax(scale q k_j), and q, k_j, v_j
// products of the tokens with W_q, W_k, W_v. The two ways add in different orders. To first order in the rounding, with u and c as in
// tolerance.h and A = sum_m |x_m w_m| the terms of a projected element, which errs by c u A:
//
//   a score errs by its own sum's terms, scale sum_x |q_x k_x|, and by the projections' errors. Those come from different sums and add up
//   in quadrature (row_product.h), so that together its magnitude in tolerance.h's bound of o is
//
//     scale (sum_x |q_x k_x| + sqrt(sum_x (A_q,x k_x)^2 + (q_x A_k,x)^2))
//
//   the values' own errors add                                              c u sum_j p_j A_v,jx
//   and what o errs by goes through W_o (row_product.h).
//
// Expected is the oracle's output for the keys and values that were projected without a cache, which are checked by Freivalds' test; each
// way may differ from it by that bound, and so the two from one another by twice as much. What a wrong key does is far larger: at token t
// it moves the output by about its weight, 1 / t.
#pragma once

#include <optional>
#include <string>

#include "verify/row_product.h"

namespace attn {

// All (n, d_model), weights (d_model, d_model), with heads side by side in a row.
template <class T>
struct GeneratedRows {
  MatrixView<const T> x;
  MatrixView<const T> w_q, w_k, w_v, w_o;
  Index heads = 1;
  MatrixView<const T> q, k, v;           // of all tokens, as projected without a cache
  MatrixView<const T> uncached, cached;  // the outputs
};

struct GenerationAgreement {
  Index rows = 0;                 // that were compared
  double largest_difference = 0;  // between the two ways
  LargestShare uncached, cached;  // of each way's allowed difference from the oracle
  std::string wrong_projection;   // "q", "k" or "v" where one is no product of the tokens with its weights; else empty

  bool right() const { return wrong_projection.empty() && uncached.within() && cached.within(); }
};

// Compares all rows, or a sample of them where there are very many (rows_to_judge). Sizes must fit. T is float or double.
template <class T>
GenerationAgreement compare_generation(const GeneratedRows<T>& rows);

}  // namespace attn
