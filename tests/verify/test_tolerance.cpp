#include "verify/tolerance.h"

#include <cmath>
#include <random>

#include "attention/standard.h"
#include "catch.h"

using namespace attn;

namespace {

template <class T>
Matrix<T> random_matrix(Index rows, Index cols, double gain, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  Matrix<T> matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = static_cast<T>(gain * normal(generator));
  return matrix;
}

// The largest |o - o*| / allowed over all elements, o being distorted by `distort` first.
template <class T, class Distort>
double worst_share(double gain, const Distort& distort) {
  std::mt19937_64 generator(11);
  const Matrix<T> q = random_matrix<T>(19, 24, gain, generator);
  const Matrix<T> k = random_matrix<T>(41, 24, gain, generator);
  const Matrix<T> v = random_matrix<T>(41, 10, 1, generator);
  Matrix<T> o(19, 10);
  const AttentionTensors<T> tensors{TensorView<const T>::from_matrix(q.view()), TensorView<const T>::from_matrix(k.view()),
                                    TensorView<const T>::from_matrix(v.view()), TensorView<T>::from_matrix(o.view())};
  standard_attention<T>(tensors);
  distort(o, v);
  const auto oracle = oracle_head<T>(tensors, {}, 0, 0);
  double worst = 0;
  for (Index i = 0; i < o.rows(); ++i) {
    const auto& row = oracle[static_cast<std::size_t>(i)];
    const std::vector<double> allowed = allowed_differences<T>(tensors, {}, 0, 0, i, row, tolerance_of<T>());
    for (Index x = 0; x < o.cols(); ++x) {
      const auto at = static_cast<std::size_t>(x);
      worst = std::max(worst, std::abs(static_cast<double>(o(i, x)) - static_cast<double>(row.output[at])) / allowed[at]);
    }
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("rounding stays within the tolerance, flat and peaked; mistakes do not", "", float, double) {
  using Rows = Matrix<TestType>;
  for (const double gain : {0.01, 1.0, 6.0}) {
    INFO("gain " << gain);
    CHECK(worst_share<TestType>(gain, [](Rows&, const Rows&) {}) < 1);
    CHECK(worst_share<TestType>(gain, [](Rows& o, const Rows&) { std::fill_n(o.data(), o.size(), TestType{0}); }) > 10);
    CHECK(worst_share<TestType>(gain, [](Rows& o, const Rows&) { o(7, 3) *= TestType(1.001); }) > 1);
    CHECK(worst_share<TestType>(gain, [](Rows& o, const Rows& v) { o(18, 9) += v(40, 9) / 1000; }) > 1);
  }
}

TEMPLATE_TEST_CASE("the allowance of two keys, computed by hand", "", float, double) {
  // Column 0: both values are 3, so that no error of a weight can move the output. Column 1: 1 and -1, whose mean moves with the weights.
  Matrix<TestType> values(2, 2);
  values(0, 0) = values(1, 0) = 3;
  values(0, 1) = 1;
  values(1, 1) = -1;
  const Tolerance tolerance{0x1p-4, 0x1p-6, 8, 0};
  const std::vector<double> weights = {0.5, 0.5};
  const std::vector<double> output = {3, 0};
  const std::vector<double> magnitudes = {10, 30};
  const std::vector<double> allowed = allowed_differences<TestType>(values.view(), weights, output, magnitudes, tolerance);
  CHECK(allowed[0] == 0x1p-4 * (3 + 3) + 8 * 0x1p-6 * 3);
  CHECK(allowed[1] == 0x1p-4 * (0 + 1) + 8 * 0x1p-6 * (1 + 0.5 * 10 + 0.5 * 30));
}
