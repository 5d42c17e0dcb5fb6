// Summaries, distributions and fits: against NIST's certified results, published tables and closed forms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "catch.h"
#include "machine/error.h"
#include "measure/distributions.h"
#include "measure/growth.h"
#include "measure/statistics.h"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool close(double found, double expected, double tolerance) { return std::abs(found - expected) <= tolerance * std::abs(expected); }

}  // namespace

// NIST Statistical Reference Datasets, univariate: NumAcc1 (10000001, 10000003, 10000002) and NumAcc3 (1000000.2, then 1000000.1 and
// 1000000.3 in turn, 1001 in all), with certified mean and standard deviation.
TEST_CASE("mean and standard deviation are those that NIST certifies") {
  const std::vector<double> numacc1{10000001, 10000003, 10000002};
  CHECK(mean(numacc1) == 10000002.0);
  CHECK(standard_deviation(numacc1) == 1.0);

  std::vector<double> numacc3{1000000.2};
  for (int i = 0; i < 500; ++i) numacc3.insert(numacc3.end(), {1000000.1, 1000000.3});
  CHECK(close(mean(numacc3), 1000000.2, 1e-14));
  CHECK(close(standard_deviation(numacc3), 0.1, 1e-8));
  CHECK(close(estimate_mean(numacc3).standard_error, 0.1 / std::sqrt(1001.0), 1e-8));
}

TEST_CASE("quantiles interpolate between order statistics") {
  std::vector<double> ramp(101);
  std::iota(ramp.begin(), ramp.end(), 0.0);
  std::reverse(ramp.begin(), ramp.end());
  for (const double q : {0.0, 0.125, 0.25, 0.5, 0.9, 1.0}) CHECK(quantile(ramp, q) == Approx(100 * q));
  CHECK(median(std::vector<double>{4, 1, 3, 2}) == 2.5);
  CHECK(median(std::vector<double>{7}) == 7);
  CHECK_THROWS_AS(median(std::vector<double>{}), UsageError);
  CHECK_THROWS_AS(quantile(ramp, 1.5), UsageError);
}

TEST_CASE("a summary holds every figure") {
  const std::vector<double> samples{5, 1, 4, 2, 3};
  const Summary summary = summarize(samples);
  CHECK(summary.count == 5);
  CHECK(summary.median == 3);
  CHECK(summary.half_iqr == 1);  // quartiles 2 and 4
  CHECK(summary.mean == 3);
  CHECK(summary.stddev == Approx(std::sqrt(2.5)));
  CHECK(summary.min == 1);
  CHECK(summary.max == 5);
  CHECK(summary.relative_noise() == Approx(1.0 / 3));
  CHECK(summarize(std::vector<double>{2}).stddev == 0);
}

TEST_CASE("one hiccup is an outlier and moves no robust figure") {
  std::vector<double> samples{1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99};
  CHECK(outliers(samples).empty());
  const Summary before = summarize(samples);
  samples.push_back(50);
  CHECK(outliers(samples) == std::vector<std::size_t>{8});
  CHECK(summarize(samples).median == Approx(before.median).margin(0.011));
}

TEST_CASE("modified Z scores have a meaning where the MAD is 0") {
  const std::vector<double> mostly_equal{3, 3, 3, 3, 3, 3, 3, 9};
  const auto scores = modified_z_scores(mostly_equal);
  CHECK(scores[0] == 0);
  CHECK(scores[7] == Approx(6 / (1.253314 * 6 / 8)));
  CHECK(outliers(mostly_equal) == std::vector<std::size_t>{7});
  CHECK(outliers(std::vector<double>{3, 3, 3}).empty());
  // Without that case: 0.6745 times the distance in MADs.
  CHECK(modified_z_scores(std::vector<double>{1, 2, 3, 4, 5})[4] == Approx(0.6745 * 2));
}

TEST_CASE("geometric mean") {
  CHECK(geometric_mean(std::vector<double>{1, 2, 4}) == Approx(2));
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{1, 0}), UsageError);
}

// Two-sided critical values as printed in tables of Student's t and of the normal distribution.
TEST_CASE("Student's t is that of the tables") {
  struct Entry {
    double p, degrees, t;
  };
  const Entry table[] = {{0.05, 1, 12.706},   {0.05, 2, 4.303},        {0.05, 5, 2.571},        {0.05, 10, 2.228},
                         {0.05, 30, 2.042},   {0.01, 4, 4.604},        {0.001, 4, 8.610},       {0.001, 20, 3.850},
                         {0.001, 120, 3.373}, {0.05, infinity, 1.960}, {0.001, infinity, 3.291}};
  for (const auto& [p, degrees, t] : table) {
    CAPTURE(p, degrees);
    CHECK(student_t_two_sided_quantile(p, degrees) == Approx(t).margin(5.1e-4));
    CHECK(student_t_two_sided_p(student_t_two_sided_quantile(p, degrees), degrees) == Approx(p));
  }
  // Closed forms: one degree is Cauchy's distribution, two have an algebraic one.
  for (const double t : {0.1, 1.0, 3.0, 40.0}) {
    CHECK(student_t_two_sided_p(t, 1) == Approx(1 - 2 / std::numbers::pi * std::atan(t)));
    CHECK(student_t_two_sided_p(-t, 2) == Approx(1 - t / std::sqrt(2 + t * t)));
  }
  CHECK(student_t_two_sided_p(0, 3) == 1);
}

TEST_CASE("digamma and trigamma have their known values and are inverted") {
  const double pi = std::numbers::pi;
  CHECK(digamma(1) == Approx(-std::numbers::egamma));
  CHECK(digamma(0.5) == Approx(-std::numbers::egamma - 2 * std::log(2.0)));
  CHECK(trigamma(1) == Approx(pi * pi / 6));
  CHECK(trigamma(0.5) == Approx(pi * pi / 2));
  for (const double x : {0.03, 0.5, 1.0, 7.5, 400.0}) CHECK(inverse_trigamma(trigamma(x)) == Approx(x));
}

// NIST Statistical Reference Datasets, linear regression: Norris.
TEST_CASE("a line's slope and its error are those that NIST certifies") {
  const std::vector<double> x{0.2, 337.4, 118.2, 884.6, 10.1,  226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4,
                              0.6, 775.5, 666.9, 338.0, 447.5, 11.6,  556.0, 228.1, 995.8, 887.6, 120.2, 0.3,
                              0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1,  118.3, 229.2, 669.1, 448.9, 0.5};
  const std::vector<double> y{0.1, 338.8, 118.1, 888.0, 9.2,   228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3,
                              0.1, 778.1, 668.8, 339.3, 448.9, 10.8,  557.7, 228.3, 998.0, 888.8, 119.6, 0.3,
                              0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2,  117.6, 228.9, 668.4, 449.2, 0.2};
  const LineFit fit = fit_line(x, y);
  CHECK(close(fit.slope, 1.00211681802045, 1e-13));
  CHECK(close(fit.intercept, -0.262323073774029, 1e-11));
  REQUIRE(fit.slope_error.has_value());
  CHECK(close(*fit.slope_error, 0.429796848199937e-03, 1e-11));
}

TEST_CASE("growth is the exponent on logarithmic axes, whatever the steps") {
  const std::vector<double> sizes{100, 150, 1000, 1024};
  std::vector<double> times;
  for (const double n : sizes) times.push_back(3e-9 * n * n);
  const auto fit = fit_growth(sizes, times);
  REQUIRE(fit.has_value());
  CHECK(fit->exponent == Approx(2));
  CHECK(fit->growth_per_doubling == Approx(4));
  REQUIRE(fit->exponent_low.has_value());
  CHECK(*fit->exponent_high - *fit->exponent_low < 1e-9);

  times[1] *= 1.3;
  const auto noisy = fit_growth(sizes, times);
  CHECK(*noisy->exponent_low < 2);
  CHECK(*noisy->exponent_high > 2);

  const auto two = fit_growth(std::vector<double>{1, 2}, std::vector<double>{1, 8});
  CHECK(two->growth_per_doubling == Approx(8));
  CHECK_FALSE(two->exponent_low.has_value());
}

TEST_CASE("there is no growth to fit from one size or from zeros") {
  using V = std::vector<double>;
  CHECK_FALSE(fit_growth(V{5}, V{1}).has_value());
  CHECK_FALSE(fit_growth(V{5, 5}, V{1, 2}).has_value());
  CHECK_FALSE(fit_growth(V{5, 6}, V{0, 2}).has_value());
  CHECK_FALSE(fit_growth(V{}, V{}).has_value());
  CHECK_THROWS_AS(fit_line(V{1, 1}, V{2, 3}), UsageError);
}
