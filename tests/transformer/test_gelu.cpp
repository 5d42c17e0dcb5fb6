#include "transformer/gelu.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "machine/threads.h"
#include "support/for_each_target.h"
#include "transformer/plain_layer.h"

using namespace attn;

namespace {

long double u_of(long double x) { return std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x); }

// The definition, in the form that does not cancel.
long double exact_gelu(long double x) { return x / (1 + std::exp(-2 * u_of(x))); }

// -8 to 8 in small steps: below -8 float32's result is subnormal soon.
template <class T>
Matrix<T> steps(Index count) {
  Matrix<T> x(1, count);
  for (Index i = 0; i < count; ++i) x(0, i) = static_cast<T>(-8 + 16 * static_cast<double>(i) / static_cast<double>(count - 1));
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("gelu is what its formula gives in long double, on every target", "", float, double) {
  const Matrix<TestType> x = steps<TestType>(4001);
  for_each_target([&] {
    Matrix<TestType> y = copy(x.view());
    gelu(y);
    double worst = 0;
    for (Index i = 0; i < x.cols(); ++i) {
      const long double expected = exact_gelu(static_cast<long double>(x(0, i)));
      const double units = 3 + 3 * std::abs(static_cast<double>(u_of(static_cast<long double>(x(0, i)))));
      const double allowed = units * std::numeric_limits<TestType>::epsilon() * std::abs(static_cast<double>(expected));
      if (allowed > 0) worst = std::max(worst, std::abs(static_cast<double>(y(0, i) - expected)) / allowed);
    }
    CHECK(worst <= 1);
    CHECK(worst > 0.01);  // the allowance is not idle
  });
}

// Hendrycks and Gimpel's approximation of x times the normal distribution function.
TEST_CASE("gelu lies within 0.0005 of x Phi(x)") {
  const Matrix<double> x = steps<double>(2001);
  Matrix<double> y = copy(x.view());
  gelu(y);
  double worst = 0;
  for (Index i = 0; i < x.cols(); ++i) worst = std::max(worst, std::abs(y(0, i) - x(0, i) * 0.5 * std::erfc(-x(0, i) / std::sqrt(2.0))));
  CHECK(worst < 0.0005);
  CHECK(worst > 0.0001);
}

TEMPLATE_TEST_CASE("gelu of a view of any size changes that view alone, whatever the number of threads", "", float, double) {
  const int before = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    for (const Index cols : {1, 7, 16, 37, 20000}) {
      Matrix<TestType> all(5, cols + 2, TestType(1));
      gelu(all.view().block(1, 1, 3, cols));
      for (Index i = 0; i < 5; ++i) {
        for (const Index j : {Index{0}, Index{1}, cols / 2 + 1, cols, cols + 1}) {
          const bool inside = i >= 1 && i < 4 && j >= 1 && j <= cols;
          if (inside) CHECK(all(i, j) == Approx(static_cast<double>(exact_gelu(1))).epsilon(1e-6));
          if (!inside) CHECK(all(i, j) == 1);
        }
      }
    }
  }
  set_threads(before);
}

TEMPLATE_TEST_CASE("gelu of what is large, 0 and NaN", "", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  Matrix<TestType> x(1, 6);
  const TestType values[] = {0, TestType(1e30), TestType(-1e30), infinity, std::numeric_limits<TestType>::quiet_NaN(), TestType(-60)};
  for_each_target([&] {
    std::copy(std::begin(values), std::end(values), x.data());
    gelu(x);
    CHECK(x(0, 0) == 0);
    CHECK(x(0, 1) == TestType(1e30));
    CHECK(x(0, 2) == 0);
    CHECK(x(0, 3) == infinity);
    CHECK(std::isnan(x(0, 4)));
    CHECK(x(0, 5) == 0);
  });
}
