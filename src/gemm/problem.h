// One product to compute, as the drivers take it.
#pragma once

#include "matrix/matrix.h"

namespace attn {

// C := alpha A B + beta C or, b_transposed, alpha A B^T + beta C.
template <class T>
struct Problem {
  Index m;
  Index n;
  Index k;
  T alpha;
  T beta;
  MatrixView<const T> a;  // m x k
  MatrixView<const T> b;  // k x n, or n x k
  bool b_transposed;
  MatrixView<T> c;  // m x n
};

}  // namespace attn
