#include "attention/softmax.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "attention/reference.h"
#include "catch.h"
#include "machine/threads.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

template <class T>
Matrix<T> random_scores(Index rows, Index cols, double spread) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rows * 1000 + cols));
  std::normal_distribution<double> normal(0, spread);
  Matrix<T> scores(rows, cols);
  for (Index i = 0; i < scores.size(); ++i) scores.data()[i] = static_cast<T>(normal(random));
  return scores;
}

// Softmax of one row in long double.
template <class T>
AttentionRow<long double> exact_row(const MatrixView<const T>& scores, Index i) {
  AttentionRow<long double> row;
  row.masked.assign(scores.row(i), scores.row(i) + scores.cols());
  reference_softmax(row);
  return row;
}

template <class T>
void check_against_exact(Index rows, Index cols, double spread) {
  CAPTURE(rows, cols, spread);
  const Matrix<T> scores = random_scores<T>(rows, cols, spread);
  Matrix<T> weights(rows, cols);
  std::vector<T> lse(static_cast<std::size_t>(rows));
  softmax_rows(scores.view(), weights.view(), lse.data());
  // exp rounds s - max, which is at most about 12 spreads, and itself to a unit; the sum, of lanes in turn, adds its share.
  const double tolerance = std::numeric_limits<T>::epsilon() * (6 * spread + 8);
  double worst = 0;
  for (Index i = 0; i < rows; ++i) {
    const AttentionRow<long double> exact = exact_row<T>(scores.view(), i);
    for (Index j = 0; j < cols; ++j) {
      const long double expected = exact.weights[static_cast<std::size_t>(j)];
      const long double floor = std::numeric_limits<T>::min();
      worst = std::max(worst, static_cast<double>(std::abs(weights(i, j) - expected) / std::max(expected, floor)));
    }
    CHECK(std::abs(lse[static_cast<std::size_t>(i)] - static_cast<double>(exact.lse)) <=
          tolerance * (1 + std::abs(static_cast<double>(exact.lse))));
  }
  CHECK(worst <= tolerance);
}

template <class T>
void check_special_rows() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Index cols : {1, 3, 16, 37}) {
    CAPTURE(cols);
    std::vector<T> row(static_cast<std::size_t>(cols), -infinity);
    CHECK(softmax_row(row.data(), row.data(), cols) == -infinity);
    CHECK(row == std::vector<T>(row.size(), 0));

    row.assign(row.size(), -infinity);
    row.back() = T{-1e30};
    CHECK(softmax_row(row.data(), row.data(), cols) == T{-1e30});
    CHECK(row.back() == 1);
    CHECK(row.front() == (cols == 1 ? 1 : 0));

    for (const T bad : {nan, infinity}) {
      for (const std::size_t place : {std::size_t{0}, row.size() / 2, row.size() - 1}) {
        row.assign(row.size(), 1);
        row[place] = bad;
        CHECK(std::isnan(softmax_row(row.data(), row.data(), cols)));
        for (const T p : row) CHECK(std::isnan(p));
      }
      row.assign(row.size(), -infinity);
      row[0] = bad;
      softmax_row(row.data(), row.data(), cols);
      CHECK(std::isnan(row[0]));
    }
  }
  CHECK(softmax_row(static_cast<T*>(nullptr), static_cast<T*>(nullptr), 0) == -infinity);
}

}  // namespace

TEST_CASE("softmax agrees with long double, whatever the row's length") {
  for_each_target([] {
    for (Index cols = 1; cols <= 70; ++cols) {
      check_against_exact<float>(3, cols, 1);
      check_against_exact<double>(3, cols, 1);
    }
    for (const double spread : {1e-3, 10.0, 40.0}) {
      check_against_exact<float>(5, 1000, spread);
      check_against_exact<double>(5, 1000, spread);
    }
  });
}

TEST_CASE("softmax of rows without keys, with infinities and with NaN") {
  for_each_target([] {
    check_special_rows<float>();
    check_special_rows<double>();
  });
}

TEST_CASE("softmax obeys row strides, writes in place and is the same on any number of threads") {
  const Matrix<float> source = random_scores<float>(400, 301, 3);
  Matrix<float> expected(400, 200);
  softmax_rows(source.view().block(0, 50, 400, 200), expected.view());
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    Matrix<float> scores = copy(source.view());
    softmax_rows(scores.view().block(0, 50, 400, 200), scores.view().block(0, 50, 400, 200));
    for (Index i = 0; i < 400; ++i) {
      for (Index j = 0; j < 301; ++j) {
        const bool inside = j >= 50 && j < 250;
        if (scores(i, j) != (inside ? expected(i, j - 50) : source(i, j))) FAIL("at " << i << ", " << j);
      }
    }
  }
  set_threads(default_threads());
  Matrix<float> other(400, 199);
  CHECK_THROWS_AS(softmax_rows(source.view(), other.view()), UsageError);
}
