// The causal mask as a matrix, for showing it and for tests; the algorithms know causality without one.
#pragma once

#include <limits>

#include "matrix/matrix.h"

namespace attn {

// mask(i, j) = 1 where query i may see key j, j <= i + offset, else 0: for offset 0 the lower triangle with its diagonal.
template <class T>
Matrix<T> causal_mask(Index seq_q, Index seq_k, Index offset = 0) {
  Matrix<T> mask(seq_q, seq_k);
  for (Index i = 0; i < seq_q; ++i) {
    for (Index j = 0; j < seq_k; ++j) mask(i, j) = j <= i + offset ? T{1} : T{0};
  }
  return mask;
}

// The scores where mask is not 0, -inf elsewhere. Throws UsageError where the shapes differ.
template <class T>
Matrix<T> masked_scores(MatrixView<const T> scores, MatrixView<const T> mask) {
  if (scores.rows() != mask.rows() || scores.cols() != mask.cols()) throw UsageError("mask: shape: expected that of the scores");
  Matrix<T> masked(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index j = 0; j < scores.cols(); ++j) masked(i, j) = mask(i, j) != T{0} ? scores(i, j) : -std::numeric_limits<T>::infinity();
  }
  return masked;
}

}  // namespace attn
