// Freivalds' test of a matrix product: is C = A B? Multiplying by a random vector x of +1 and -1 costs m n + k n + m k operations instead
// of m n k; a wrong C passes with probability at most 1/2 for each vector.
//
//   |(C x)_i - (A (B x))_i| <= 16 eps sqrt(k) |A_i| |B|     2-norm of row i of A, Frobenius norm of B
//
// The bound: rounding errors of c_ij, about eps sqrt(k) times its size, add up over j like independent ones; sum_j c_ij^2 <= |A_i|^2 |B|^2.
// R. Freivalds, "Probabilistic Machines Can Use Less Running Time", IFIP 1977.
#pragma once

#include <optional>

#include "matrix/matrix.h"

namespace attn {

struct WrongProduct {
  Index row = 0;          // the row that is farthest off
  double difference = 0;  // of its sums
  double allowed = 0;
};

// A (m, k); B (k, n), or (n, k) where b_transposed; C (m, n). Empty where C passes with `vectors` random vectors drawn from `seed`.
// NaN or infinity in C does not pass unless it is in A or B. Computes in float64, or long double for float64 operands.
template <class T>
std::optional<WrongProduct> check_product(MatrixView<const T> a, MatrixView<const T> b, bool b_transposed, MatrixView<const T> c,
                                          std::uint64_t seed, int vectors = 2);

}  // namespace attn
