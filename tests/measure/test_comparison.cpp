// Verdicts on timings: rank test against published tables, Holm by hand, and by simulation how often a table gives a false alarm and how
// often a slowdown is seen.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <vector>

#include "catch.h"
#include "machine/error.h"
#include "measure/bootstrap.h"
#include "measure/comparison.h"
#include "measure/rank_test.h"
#include "measure/run_variance.h"
#include "measure/statistics.h"
#include "support/sanitized.h"

using namespace attn;

namespace {

// Uniform and normal numbers that are alike in every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}

  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  // Timings' kind of noise: mostly tight, one in ten delayed by something, sometimes much.
  double hiccups() { return 0.03 * normal() + (uniform() < 0.1 ? std::abs(0.5 * normal()) : 0.0); }

 private:
  std::mt19937_64 random_;
};

enum class Kind { lognormal, hiccups };

// `count` times around 1 ms with 5 % of lognormal noise or with hiccups, all multiplied by `factor`.
std::vector<double> sample_times(Noise& noise, Kind kind, int count, double factor) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(1e6 * factor * std::exp(kind == Kind::lognormal ? 0.05 * noise.normal() : noise.hiccups()));
  }
  return times;
}

constexpr int rows_per_table = 50;
constexpr int samples_per_run = 20;

// A table of rows with `runs` runs a side; every run is off by a factor of its own, about exp(run_sigma).
std::vector<RowSamples> same_table(Noise& noise, Kind kind, int runs, double run_sigma) {
  std::vector<RowSamples> rows(rows_per_table);
  for (RowSamples& row : rows) {
    for (auto* side : {&row.old_runs, &row.new_runs}) {
      for (int run = 0; run < runs; ++run) {
        side->push_back(sample_times(noise, kind, samples_per_run, std::exp(run_sigma * noise.normal())));
      }
    }
  }
  return rows;
}

bool has_alarm(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                     [](const RowComparison& row) { return row.verdict == Verdict::faster || row.verdict == Verdict::slower; });
}

ComparisonOptions quick() {
  ComparisonOptions options;
  options.bootstrap_draws = 100;  // tables by the thousand; the verdict rests on the rank test
  return options;
}

int tables_with_alarm(Kind kind, int runs, double run_sigma, int tables, std::uint64_t seed) {
  Noise noise(seed);
  int alarms = 0;
  for (int table = 0; table < tables; ++table) alarms += has_alarm(compare_rows(same_table(noise, kind, runs, run_sigma), quick())) ? 1 : 0;
  return alarms;
}

// Of tables in which one row alone became 10 % slower, the share in which that row is found: the hardest case for Holm.
double share_detected(Kind kind, int runs, double run_sigma, int tables, std::uint64_t seed) {
  Noise noise(seed);
  int detected = 0;
  for (int table = 0; table < tables; ++table) {
    auto rows = same_table(noise, kind, runs, run_sigma);
    const auto slow = static_cast<std::size_t>(table % rows_per_table);
    for (auto& run : rows[slow].new_runs) {
      for (double& time : run) time *= 1.1;
    }
    detected += compare_rows(rows, quick()).rows[slow].verdict == Verdict::slower ? 1 : 0;
  }
  return static_cast<double>(detected) / tables;
}

RowSamples one_row(std::vector<double> before, std::vector<double> after) { return {{std::move(before)}, {std::move(after)}}; }

}  // namespace

// Critical values of the Mann-Whitney U for a two-sided test at 0.05, from the tables in every book of statistics: U = 23 for 10 and 10
// samples, 2 for 5 and 5, 127 for 20 and 20 (the largest U that is still significant).
TEST_CASE("the rank test is exact at the tables' critical values") {
  struct Entry {
    int m, n, critical_u;
  };
  for (const auto& [m, n, critical_u] : {Entry{5, 5, 2}, Entry{10, 10, 23}, Entry{20, 20, 127}, Entry{8, 15, 29}}) {
    CAPTURE(m, n);
    const auto p_at = [m = m, n = n](int u) {  // `b` is 1..n; the first of `a` lie below all of it, then one among it: U = u
      std::vector<double> a;
      std::vector<double> b;
      for (int i = 1; i <= n; ++i) b.push_back(i);
      for (int i = 0; i < m; ++i) a.push_back(std::min(n, std::max(0, u - i * n)) + 0.5 + i * 1e-6);
      return rank_sum_p(a, b);
    };
    CHECK(p_at(critical_u) <= 0.05);
    CHECK(p_at(critical_u + 1) > 0.05);
  }
}

TEST_CASE("the rank test counts subsets, with ties too") {
  // Nothing overlaps: 2 of the C(6, 3) = 20 subsets are as extreme.
  CHECK(rank_sum_p(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}) == Approx(0.1));
  // {1, 1, 2} against {2, 3}: ranks 1.5 1.5 3.5 | 3.5 5; of the 10 subsets of three, the sums 6.5 (2) and 11.5.. (12: none) count: 2, and
  // those above: 1.5+3.5+5 = 10 (4), 3.5+3.5+5 = 12 (1); the mean is 9, the distance 2.5, so 6.5 (2) and 12 (1) are as far.
  CHECK(rank_sum_p(std::vector<double>{1, 1, 2}, std::vector<double>{2, 3}) == Approx(0.3));
  CHECK(rank_sum_p(std::vector<double>{7, 7}, std::vector<double>{7, 7, 7}) == 1);
  CHECK_THROWS_AS(rank_sum_p(std::vector<double>{}, std::vector<double>{1}), UsageError);
}

TEST_CASE("the rank test's normal form joins its exact one") {
  Noise noise(3);
  for (const double shift : {0.0, 0.01, 0.02}) {
    auto a = sample_times(noise, Kind::lognormal, 50, 1);
    auto b = sample_times(noise, Kind::lognormal, 50, 1 + shift);
    const double exact = rank_sum_p(a, b);
    b.push_back(b.back());  // one sample more than is counted exactly: the closer to the middle, the less it changes
    b.back() = median(a);
    CHECK(rank_sum_p(a, b) == Approx(exact).epsilon(0.15));
    CHECK(rank_sum_p(a, b) == Approx(rank_sum_p(b, a)));
  }
}

TEST_CASE("Holm's correction steps down and stays in order") {
  // 4 x 0.005, 3 x 0.01, 2 x 0.03, then 0.04 may not fall below 0.06.
  const auto corrected = holm_correction(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  CHECK(corrected[0] == Approx(0.03));
  CHECK(corrected[1] == Approx(0.06));
  CHECK(corrected[2] == Approx(0.06));
  CHECK(corrected[3] == Approx(0.02));
  CHECK(holm_correction(std::vector<double>{0.7, 0.6})[0] == 1);
  CHECK(holm_correction(std::vector<double>{}).empty());
}

TEST_CASE("the bootstrap interval covers the true ratio as often as it says") {
  Noise noise(11);
  int covered = 0;
  constexpr int trials = 1000;
  for (int trial = 0; trial < trials; ++trial) {
    const auto a = sample_times(noise, Kind::hiccups, 20, 1);
    const auto b = sample_times(noise, Kind::hiccups, 20, 1.3);
    const auto [low, high] = bootstrap_median_ratio(a, b, 0.95, 400, 5);
    covered += low <= 1.3 && 1.3 <= high ? 1 : 0;
  }
  CHECK(covered >= 0.93 * trials);
  CHECK(covered <= 0.99 * trials);
}

TEST_CASE("medians of resamplings have their binomial distribution") {
  // Of 5 samples, the median of a resampling is at most the k-th with the chance of 3 or more hits of k/5 in 5: 0.058, 0.317, 0.683, 0.942.
  const auto interval = [](double confidence) {
    return bootstrap_median_ratio(std::vector<double>{1}, std::vector<double>{1, 2, 3, 4, 5}, confidence, 4000, 9);
  };
  CHECK(interval(0.92).low == 1);
  CHECK(interval(0.92).high == 5);
  CHECK(interval(0.80).low == 2);
  CHECK(interval(0.80).high == 4);
  CHECK(interval(0.30).low == 3);
  CHECK(interval(0.30).high == 3);
}

TEST_CASE("verdicts are a pure function of samples") {
  Noise noise(21);
  const auto before = sample_times(noise, Kind::lognormal, 30, 1);
  auto slower = before;
  for (double& time : slower) time *= 1.25;
  const std::vector<RowSamples> rows{one_row(before, before), one_row(before, slower), one_row(slower, before)};
  const Comparison comparison = compare_rows(rows);
  CHECK(comparison.rows[0].verdict == Verdict::same);
  CHECK(comparison.rows[0].ratio == 1);
  CHECK(comparison.rows[1].verdict == Verdict::slower);
  CHECK(comparison.rows[1].change_percent() == Approx(25));
  CHECK(comparison.rows[1].ratio_low < 1.25);
  CHECK(comparison.rows[1].ratio_high > 1.25);
  CHECK(comparison.rows[2].verdict == Verdict::faster);
  CHECK(*comparison.geometric_mean == Approx(1));

  const Comparison again = compare_rows(rows);
  CHECK(again.rows[1].ratio_low == comparison.rows[1].ratio_low);
  CHECK(again.rows[1].p == comparison.rows[1].p);
  CHECK(name_of(comparison.rows[1].verdict) == "SLOWER");
}

TEST_CASE("below ten samples nothing is sure, however great the change") {
  const std::vector<double> nine(9, 1.0);
  const std::vector<double> ten(10, 2.0);
  CHECK(compare_rows(std::vector{one_row(nine, ten)}).rows[0].verdict == Verdict::unsure);
  CHECK(compare_rows(std::vector{one_row(ten, nine)}).rows[0].verdict == Verdict::unsure);
  CHECK(compare_rows(std::vector{one_row(nine, nine)}).rows[0].verdict == Verdict::unsure);
  const std::vector<double> ten_fast(10, 1.0);
  const auto both = compare_rows(std::vector{one_row(nine, ten), one_row(ten_fast, ten)});
  CHECK(both.rows[1].verdict == Verdict::slower);
  CHECK(both.rows[1].p_holm == both.rows[1].p);  // the row that can't be judged doesn't count
}

TEST_CASE("a wide interval is unsure, not the same") {
  Noise noise(4);
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(std::exp(0.4 * noise.normal()));
    b.push_back(std::exp(0.4 * noise.normal()));
  }
  CHECK(compare_rows(std::vector{one_row(a, b)}).rows[0].verdict == Verdict::unsure);
}

TEST_CASE("samples that are no times are refused") {
  CHECK_THROWS_AS(compare_rows(std::vector{one_row({}, {1})}), UsageError);
  CHECK_THROWS_AS(compare_rows(std::vector{one_row({1}, {0})}), UsageError);
  CHECK_THROWS_AS(compare_rows(std::vector{one_row({1}, {NAN})}), UsageError);
  CHECK(compare_rows({}).rows.empty());
  CHECK_FALSE(compare_rows({}).geometric_mean.has_value());
}

TEST_CASE("moderated variances: alike rows share, unlike rows stand alone") {
  Noise noise(8);
  const auto chi_square = [&](double variance, int degrees) {
    double sum = 0;
    for (int i = 0; i < degrees; ++i) sum += std::pow(noise.normal(), 2);
    return VarianceEstimate{variance * sum / degrees, static_cast<double>(degrees)};
  };
  std::vector<VarianceEstimate> alike;
  std::vector<VarianceEstimate> unlike;
  for (int i = 0; i < 200; ++i) {
    alike.push_back(chi_square(4, 4));
    unlike.push_back(chi_square(std::exp(4 * noise.normal()), 4));
  }
  for (const VarianceEstimate& row : moderate_variances(alike)) {
    CHECK(row.degrees > 20);
    CHECK(row.variance > 2);
    CHECK(row.variance < 8);
  }
  for (const VarianceEstimate& row : moderate_variances(unlike)) CHECK(row.degrees < 5);
  const auto few = std::vector(alike.begin(), alike.begin() + 3);
  CHECK(moderate_variances(few)[0].variance == few[0].variance);
}

namespace {

// With sanitizers a few tables are run, of which chance may take more than its share.
constexpr int simulated(int tables) { return sanitized ? tables / 20 : tables; }
constexpr double most_alarms = sanitized ? 0.2 : 0.05;
constexpr double least_detected = sanitized ? 0.8 : 0.95;

}  // namespace

TEST_CASE("simulated: tables without change give a false alarm in at most 5 % of cases") {
  constexpr int tables = simulated(600);
  for (const Kind kind : {Kind::lognormal, Kind::hiccups}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(tables_with_alarm(kind, 1, 0, tables, 1001) <= most_alarms * tables);
  }
}

TEST_CASE("simulated: a slowdown of 10 % under 5 % noise is found in more than 95 % of cases") {
  CHECK(share_detected(Kind::lognormal, 1, 0, simulated(400), 2002) > least_detected);
  CHECK(share_detected(Kind::hiccups, 1, 0, simulated(200), 2003) > least_detected - 0.05);  // harder noise than that
}

TEST_CASE("simulated: what differs from run to run is no change, and does not hide one") {
  constexpr int tables = simulated(300);
  CHECK(tables_with_alarm(Kind::lognormal, 3, 0.03, tables, 3003) <= most_alarms * tables);
  CHECK(tables_with_alarm(Kind::hiccups, 5, 0.03, tables, 3004) <= most_alarms * tables);
  CHECK(share_detected(Kind::lognormal, 5, 0.02, simulated(200), 3005) > least_detected);
}
