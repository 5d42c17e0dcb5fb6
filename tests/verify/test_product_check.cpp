#include "verify/product_check.h"

#include <cmath>
#include <limits>
#include <random>

#include "catch.h"
#include "gemm/reference.h"

using namespace attn;

namespace {

template <class T>
Matrix<T> random_matrix(Index rows, Index cols, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  Matrix<T> matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = static_cast<T>(normal(generator));
  return matrix;
}

}  // namespace

TEMPLATE_TEST_CASE("a right product passes, and one wrong element does not", "", float, double) {
  std::mt19937_64 generator(1);
  for (const bool transposed : {false, true}) {
    const Matrix<TestType> a = random_matrix<TestType>(37, 64, generator);
    const Matrix<TestType> b = transposed ? random_matrix<TestType>(53, 64, generator) : random_matrix<TestType>(64, 53, generator);
    Matrix<TestType> c(37, 53);
    reference::gemm<TestType>(1, a.view(), b.view(), transposed, 0, c.view());
    CHECK_FALSE(check_product<TestType>(a, b, transposed, c, 7));
    for (const Index wrong : {Index{0}, c.size() / 2, c.size() - 1}) {
      const TestType right = c.data()[wrong];
      for (const TestType value : {right + TestType(0.1), TestType(0), std::numeric_limits<TestType>::quiet_NaN()}) {
        if (std::abs(value - right) < 0.05) continue;
        c.data()[wrong] = value;
        const auto found = check_product<TestType>(a, b, transposed, c, 7);
        REQUIRE(found);
        CHECK(found->row == wrong / c.cols());
      }
      c.data()[wrong] = right;
    }
  }
}

TEST_CASE("NaN that comes from an operand is right") {
  std::mt19937_64 generator(2);
  Matrix<float> a = random_matrix<float>(5, 6, generator);
  const Matrix<float> b = random_matrix<float>(6, 7, generator);
  a(3, 2) = std::numeric_limits<float>::quiet_NaN();
  Matrix<float> c(5, 7);
  reference::gemm<float>(1, a.view(), b.view(), false, 0, c.view());
  CHECK_FALSE(check_product<float>(a, b, false, c, 3));
  c(3, 1) = 0;  // the row's sum is NaN all the same: nobody can tell
  a(3, 2) = 0;
  CHECK(check_product<float>(a, b, false, c, 3));
}
