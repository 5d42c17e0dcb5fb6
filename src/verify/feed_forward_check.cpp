#include "verify/feed_forward_check.h"

#include <mutex>

#include "machine/parallel.h"
#include "machine/threads.h"

namespace attn {
namespace {

// gelu of each number and of its error.
template <class T>
void activate(UncertainRow<T>& row) {
  using A = OracleType<T>;
  using std::exp;
  using std::sqrt;
  constexpr double steepest = 1.13;
  const A pi = A(4) * A(std::atan(1.0L));
  for (std::size_t j = 0; j < row.values.size(); ++j) {
    const A x = row.values[j];
    const A u = sqrt(A(2) / pi) * (x + A(44715) / A(1000000) * x * x * x);
    row.values[j] = x / (A(1) + exp(A(-2) * u));
    const double units = 3 + 3 * std::abs(static_cast<double>(u));
    const double rounding = units * std::numeric_limits<T>::epsilon() * std::abs(static_cast<double>(row.values[j]));
    row.errors[j] = steepest * row.errors[j] + rounding;
  }
}

}  // namespace

template <class T>
LargestShare check_feed_forward(MatrixView<const T> y, MatrixView<const T> w_in, MatrixView<const T> w_out, MatrixView<const T> z,
                                const std::vector<Index>& rows) {
  LargestShare largest;
  std::mutex mutex;  // of largest
  parallel_for(static_cast<Index>(rows.size()), threads(), [&](Index r) {
    const Index i = rows[static_cast<std::size_t>(r)];
    UncertainRow<T> row = row_product(UncertainRow<T>(y.row(i), y.cols()), w_in);
    activate(row);
    row = row_product(row, w_out);
    const std::lock_guard lock(mutex);
    for (Index c = 0; c < z.cols(); ++c) {
      const auto at = static_cast<std::size_t>(c);
      largest.add(i, c, static_cast<double>(row.values[at]), static_cast<double>(z(i, c)), row.errors[at]);
    }
  });
  return largest;
}

template LargestShare check_feed_forward(MatrixView<const float>, MatrixView<const float>, MatrixView<const float>, MatrixView<const float>,
                                         const std::vector<Index>&);
template LargestShare check_feed_forward(MatrixView<const double>, MatrixView<const double>, MatrixView<const double>,
                                         MatrixView<const double>, const std::vector<Index>&);

}  // namespace attn
