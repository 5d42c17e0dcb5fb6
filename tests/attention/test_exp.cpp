// exp-inl.h on every target against long double: all of float32 densely, float64 at random, and the edges.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "attention/exp_kernels.h"
#include "catch.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

long double exact(ExpFunction function, long double x) {
  if (function == ExpFunction::exp || function == ExpFunction::exp_nonpositive) return std::exp(x);
  return function == ExpFunction::tanh ? std::tanh(x) : std::exp2(x);
}

// Distance from `expected` to `found` in units of T's last place there; subnormal results count in the smallest subnormal. An infinite
// result stands for the number where float overflows.
template <class T>
double ulps(long double expected, T found) {
  using Limits = std::numeric_limits<T>;
  if (expected == 0) return found == 0 ? 0 : infinity;
  const int exponent = std::max(std::ilogb(expected), Limits::min_exponent - 1);
  const long double unit = std::ldexp(1.0L, exponent - (Limits::digits - 1));
  const long double value = std::isinf(found) ? std::copysign(std::ldexp(1.0L, Limits::max_exponent), found) : found;
  return static_cast<double>(std::abs(value - expected) / unit);
}

// The largest error over `arguments`, whose number is a multiple of 64.
template <class T>
double worst_ulps(ExpFunction function, const std::vector<T>& arguments) {
  std::vector<T> results = arguments;
  evaluate(function, results);
  double worst = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const long double expected = exact(function, arguments[i]);
    if (std::isinf(results[i]) && expected > std::numeric_limits<T>::max()) continue;
    worst = std::max(worst, ulps(expected, results[i]));
    if (std::isnan(results[i])) worst = infinity;
  }
  return worst;
}

// Every `step`-th float32 by its bits, from 0 to `last` and from -0 to -last.
std::vector<float> dense_floats(float last, std::uint32_t step, bool both_signs) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits <= std::bit_cast<std::uint32_t>(last); bits += step) {
    values.push_back(-std::bit_cast<float>(bits));
    if (both_signs) values.push_back(std::bit_cast<float>(bits));
  }
  values.resize((values.size() + 63) / 64 * 64, -1.0F);
  return values;
}

std::vector<double> random_doubles(double lowest, double highest) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> anywhere(lowest, highest);
  std::uniform_real_distribution<double> exponent(-60, 0);
  std::vector<double> values(1 << 18);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = anywhere(random) * (i % 2 == 0 ? 1.0 : std::exp2(exponent(random)));
  return values;
}

// function(x) for one x.
template <class T>
T at(ExpFunction function, T x) {
  std::vector<T> values(64, x);
  evaluate(function, values);
  return values[0];
}

template <class T>
void check_edges() {
  using Limits = std::numeric_limits<T>;
  for (const ExpFunction f : {ExpFunction::exp, ExpFunction::exp_nonpositive, ExpFunction::exp2_nonpositive}) {
    CHECK(at<T>(f, 0) == 1);
    CHECK(at<T>(f, -T{0}) == 1);
    CHECK(at<T>(f, -Limits::infinity()) == 0);
    CHECK(at<T>(f, Limits::lowest()) == 0);
    CHECK(at<T>(f, T{-2e30}) == 0);
    CHECK(std::isnan(at<T>(f, Limits::quiet_NaN())));
    CHECK(std::isnan(at<T>(f, -Limits::quiet_NaN())));
  }
  CHECK(at<T>(ExpFunction::exp, Limits::infinity()) == Limits::infinity());
  CHECK(at<T>(ExpFunction::exp, Limits::max()) == Limits::infinity());
  CHECK(at<T>(ExpFunction::tanh, Limits::infinity()) == 1);
  CHECK(at<T>(ExpFunction::tanh, -Limits::infinity()) == -1);
  CHECK(std::isnan(at<T>(ExpFunction::tanh, Limits::quiet_NaN())));
  CHECK(at<T>(ExpFunction::tanh, 0) == 0);
  for (int n = Limits::min_exponent - Limits::digits; n <= 0; ++n) {
    CHECK(at<T>(ExpFunction::exp2_nonpositive, static_cast<T>(n)) == std::ldexp(T{1}, n));
  }
}

}  // namespace

TEST_CASE("exp, 2^x and tanh of float32 are within about a unit in the last place") {
  const std::vector<float> any = dense_floats(std::numeric_limits<float>::max(), 9973, true);
  const std::vector<float> nonpositive = dense_floats(160.0F, 3989, false);
  for_each_target([&] {
    CHECK(worst_ulps(ExpFunction::exp, any) < 1.35);
    CHECK(worst_ulps(ExpFunction::exp_nonpositive, nonpositive) < 1.35);
    CHECK(worst_ulps(ExpFunction::exp2_nonpositive, nonpositive) < 1.35);
    CHECK(worst_ulps(ExpFunction::tanh, any) < 4);
  });
}

TEST_CASE("exp, 2^x and tanh of float64 are within about a unit in the last place") {
  for_each_target([&] {
    CHECK(worst_ulps(ExpFunction::exp, random_doubles(-750, 715)) < 1.35);
    CHECK(worst_ulps(ExpFunction::exp_nonpositive, random_doubles(-750, 0)) < 1.35);
    CHECK(worst_ulps(ExpFunction::exp2_nonpositive, random_doubles(-1080, 0)) < 1.35);
    CHECK(worst_ulps(ExpFunction::tanh, random_doubles(-25, 25)) < 4);
  });
}

TEST_CASE("exp is exact where it must be, and keeps NaN") {
  for_each_target([] {
    check_edges<float>();
    check_edges<double>();
  });
}
