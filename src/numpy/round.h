// np.round: multiply by 10^decimals, round half to even, divide. Not the decimal nearest to x (2.675 has its own idea of a half), but
// NumPy's digits.
#pragma once

#include <span>

#include "matrix/matrix.h"

namespace attn {

// x to `decimals` places behind the point (before it, where negative). NaN and infinity stay. As in NumPy a product that overflows gives
// infinity or NaN. T: float or double.
template <class T>
T round_decimals(T x, int decimals);

// Every element in place.
template <class T>
void round_decimals(std::span<T> values, int decimals);

// A rounded copy.
template <class T>
Matrix<T> round_decimals(MatrixView<const T> a, int decimals);

template <class T>
Matrix<T> round_decimals(const Matrix<T>& a, int decimals) {
  return round_decimals(a.view(), decimals);
}

}  // namespace attn
