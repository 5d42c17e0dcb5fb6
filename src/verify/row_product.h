// One row of a product of matrices in the oracle's arithmetic, and how far the row that kernels compute may lie from it.
//
//   y_j = sum_p x_p w_pj,  x_p known to within an error e_p:
//   |y_j - y_j*| <= sqrt(sum_p (e_p w_pj)^2) + c u sum_p |x_p w_pj|
//
// u is half an ulp at 1, c = 8 covers sums that are added in no particular order (tolerance.h). The errors e_p come from different sums:
// they are taken as independent with mean 0, so that they add up in quadrature. Higham and Mary, "A New Approach to Probabilistic Rounding
// Error Analysis", SIAM J. Sci. Comput. 41, 2019.
#pragma once

#include <cmath>
#include <vector>

#include "verify/oracle.h"
#include "verify/tolerance.h"

namespace attn {

// A row of numbers with what each may be off by in a computation in type T.
template <class T>
struct UncertainRow {
  std::vector<OracleType<T>> values;
  std::vector<double> errors;

  UncertainRow() = default;
  explicit UncertainRow(std::size_t size) : values(size, OracleType<T>(0)), errors(size) {}
  // Exact numbers.
  UncertainRow(const T* from, Index size) : values(from, from + size), errors(static_cast<std::size_t>(size)) {}
};

// x (k) times w (k, n). Sizes must fit.
template <class T>
UncertainRow<T> row_product(const UncertainRow<T>& x, MatrixView<const T> w) {
  const Tolerance tolerance = tolerance_of<T>();
  const auto columns = static_cast<std::size_t>(w.cols());
  UncertainRow<T> y(columns);
  std::vector<double> terms(columns);  // sum_p |x_p w_pj|
  for (Index p = 0; p < w.rows(); ++p) {
    const OracleType<T> factor = x.values[static_cast<std::size_t>(p)];
    const double magnitude = std::abs(static_cast<double>(factor));
    const double error = x.errors[static_cast<std::size_t>(p)];
    const T* row = w.row(p);
    for (std::size_t j = 0; j < columns; ++j) {
      const double weight = static_cast<double>(row[j]);
      y.values[j] = y.values[j] + factor * OracleType<T>(row[j]);
      y.errors[j] += error * weight * error * weight;
      terms[j] += magnitude * std::abs(weight);
    }
  }
  for (std::size_t j = 0; j < columns; ++j) y.errors[j] = std::sqrt(y.errors[j]) + tolerance.c * tolerance.eps_acc * terms[j];
  return y;
}

// What is farthest from where it should be, as a share of what it may be off by.
struct LargestShare {
  double share = 0;  // infinite where no difference would be allowed, and for a NaN that should be none
  Index row = 0, column = 0;
  double expected = 0, found = 0, allowed = 0;

  bool within() const { return share <= 1; }

  // Takes in element (row, column).
  void add(Index at_row, Index at_column, double expected_value, double found_value, double allowed_value) {
    const double difference = std::abs(found_value - expected_value);
    const double part = difference == 0 ? 0 : difference / allowed_value;
    const double this_share = std::isnan(part) ? std::numeric_limits<double>::infinity() : part;
    if (this_share > share) *this = {this_share, at_row, at_column, expected_value, found_value, allowed_value};
  }
};

}  // namespace attn
