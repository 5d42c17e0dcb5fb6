#include "figure/heat_map.h"

#include <algorithm>
#include <cmath>

namespace attn {

double scale_top(MatrixView<const double> values) {
  double largest = 0;
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) largest = std::max(largest, values(i, j));
  }
  if (largest == 0) return 1;
  const double digit = std::pow(10.0, -std::floor(std::log10(largest)));
  // A weight of 0.3 and a rounding error is no reason for a scale to 0.4.
  return std::ceil(largest * digit - 1e-9) / digit;
}

}  // namespace attn
