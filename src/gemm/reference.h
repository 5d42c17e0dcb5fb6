// The product as it is defined, three plain loops, for any number type: what the kernels are tested against. It stays as it is.
#pragma once

#include "matrix/matrix.h"

namespace attn::reference {

// C := alpha A B + beta C (b_transposed: alpha A B^T + beta C), sums in the order of k. Contract and shapes as gemm in gemm.h, unchecked.
template <class T>
void gemm(T alpha, MatrixView<const T> a, MatrixView<const T> b, bool b_transposed, T beta, MatrixView<T> c) {
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.cols(); ++j) {
      T sum = 0;
      for (Index p = 0; p < a.cols(); ++p) sum += a(i, p) * (b_transposed ? b(j, p) : b(p, j));
      const T product = alpha == T{0} || a.cols() == 0 ? T{0} : alpha * sum;
      c(i, j) = beta == T{0} ? product : product + beta * c(i, j);
    }
  }
}

}  // namespace attn::reference
