// Products of matrices at the speed of the machine, in the words of BLAS: gemm and its form with B transposed.
//
// m x n results of inner size k, float32 and float64. Row-major views; rows may lie any distance apart. The kernels run on the active
// target (machine/isa_targets.h) with threads() threads (machine/threads.h); the work is split by the problem's size and sums run in a
// fixed order, so results are the same to the bit for any number of threads. Different targets may round differently: each element's error
// is at most about k eps |alpha| (|A| |B|)[i][j] (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5).
#pragma once

#include "matrix/matrix.h"

namespace attn {

// C := alpha A B + beta C, with A m x k, B k x n, C m x n.
//
// beta == 0 never reads C, so what it held, NaN included, does not matter. k == 0 or alpha == 0 gives C := beta C without reading A or B
// (zeros where beta == 0). Sizes of 0 are allowed. C must not overlap A or B.
// Throws UsageError where the shapes do not fit, MemoryError where there is none for the packed blocks.
void gemm(float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta, MatrixView<float> c);
void gemm(double alpha, MatrixView<const double> a, MatrixView<const double> b, double beta, MatrixView<double> c);

// C := alpha A B^T + beta C, with A m x k, B n x k, C m x n: scores of queries A against keys B. Otherwise as gemm.
void gemm_nt(float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta, MatrixView<float> c);
void gemm_nt(double alpha, MatrixView<const double> a, MatrixView<const double> b, double beta, MatrixView<double> c);

}  // namespace attn
