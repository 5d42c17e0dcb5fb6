#include "measure/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "machine/error.h"
#include "measure/bootstrap.h"
#include "measure/distributions.h"
#include "measure/rank_test.h"
#include "measure/run_variance.h"
#include "measure/statistics.h"

namespace attn {
namespace {

using Runs = std::vector<std::vector<double>>;

std::size_t count_samples(const Runs& runs) {
  std::size_t count = 0;
  for (const auto& run : runs) count += run.size();
  return count;
}

void require_positive(const Runs& runs) {
  if (count_samples(runs) == 0) throw UsageError("compare: samples: expected some on both sides, found none");
  for (const auto& run : runs) {
    if (run.empty()) throw UsageError("compare: samples: expected some in every run, found none");
    for (const double sample : run) {
      if (!(sample > 0) || !std::isfinite(sample)) {
        throw UsageError("compare: samples: expected positive times, found " + std::to_string(sample));
      }
    }
  }
}

bool one_run_each(const RowSamples& row) { return row.old_runs.size() == 1 && row.new_runs.size() == 1; }

std::vector<double> log_medians(const Runs& runs) {
  std::vector<double> logs;
  for (const auto& run : runs) logs.push_back(std::log(median(run)));
  return logs;
}

double squares_about_mean(const std::vector<double>& values) {
  return std::pow(standard_deviation(values), 2) * static_cast<double>(values.size() - 1);
}

// What two runs' log medians differ by for want of samples alone: pi/2 sigma^2 / n for a median of normal samples, the mean over runs.
double variance_within_runs(const RowSamples& row) {
  std::vector<double> variances;
  for (const Runs* runs : {&row.old_runs, &row.new_runs}) {
    for (const auto& run : *runs) {
      const double sigma = summarize(run).relative_noise() / 0.6745;
      variances.push_back(1.5708 * sigma * sigma / static_cast<double>(run.size()));
    }
  }
  return mean(variances);
}

// Of the log medians of one side's runs about their mean, both sides together; 0 degrees of freedom with one run each.
VarianceEstimate variance_between_runs(const RowSamples& row) {
  const auto degrees = static_cast<double>(row.old_runs.size() + row.new_runs.size() - 2);
  if (degrees == 0) return {};
  return {(squares_about_mean(log_medians(row.old_runs)) + squares_about_mean(log_medians(row.new_runs))) / degrees, degrees};
}

void judge_samples(const RowSamples& row, const ComparisonOptions& options, RowComparison& result) {
  const auto& before = row.old_runs.front();
  const auto& after = row.new_runs.front();
  const RatioInterval interval = bootstrap_median_ratio(before, after, options.confidence, options.bootstrap_draws, options.seed);
  result.ratio_low = interval.low;
  result.ratio_high = interval.high;
  result.p = rank_sum_p(before, after);
}

void judge_runs(const RowSamples& row, VarianceEstimate between, const ComparisonOptions& options, RowComparison& result) {
  const double variance = std::max(between.variance, variance_within_runs(row));
  const double error = std::sqrt(variance * (1 / static_cast<double>(row.old_runs.size()) + 1 / static_cast<double>(row.new_runs.size())));
  const double effect = std::log(result.ratio);
  const double half_width = error * student_t_two_sided_quantile(1 - options.confidence, between.degrees);
  result.ratio_low = std::exp(effect - half_width);
  result.ratio_high = std::exp(effect + half_width);
  if (error > 0)
    result.p = student_t_two_sided_p(effect / error, between.degrees);
  else
    result.p = effect == 0 ? 1 : 0;
}

Verdict verdict_of(const RowComparison& row, const ComparisonOptions& options) {
  if (std::min(row.old_samples, row.new_samples) < options.fewest_samples) return Verdict::unsure;
  if (row.p_holm <= options.family_alpha && row.ratio_low > 1) return Verdict::slower;
  if (row.p_holm <= options.family_alpha && row.ratio_high < 1) return Verdict::faster;
  const double bound = 1 + options.same_within;
  return row.ratio_low >= 1 / bound && row.ratio_high <= bound ? Verdict::same : Verdict::unsure;
}

// Corrects the p-values of the rows that have samples enough to be judged.
void correct(std::vector<RowComparison>& rows, std::size_t fewest_samples) {
  std::vector<double> p;
  for (const RowComparison& row : rows) {
    if (std::min(row.old_samples, row.new_samples) >= fewest_samples) p.push_back(row.p);
  }
  const std::vector<double> corrected = holm_correction(p);
  std::size_t next = 0;
  for (RowComparison& row : rows) {
    row.p_holm = std::min(row.old_samples, row.new_samples) >= fewest_samples ? corrected[next++] : 1;
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "SAME";
    case Verdict::faster:
      return "FASTER";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::unsure:
      break;
  }
  return "UNSURE";
}

std::vector<double> holm_correction(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.size());
  double reached = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    reached = std::max(reached, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    corrected[order[i]] = reached;
  }
  return corrected;
}

Comparison compare_rows(std::span<const RowSamples> rows, const ComparisonOptions& options) {
  std::vector<VarianceEstimate> variances;
  for (const RowSamples& row : rows) {
    require_positive(row.old_runs);
    require_positive(row.new_runs);
    variances.push_back(variance_between_runs(row));
  }
  variances = moderate_variances(variances);

  Comparison comparison;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowComparison result;
    result.old_samples = count_samples(rows[i].old_runs);
    result.new_samples = count_samples(rows[i].new_runs);
    result.ratio = std::exp(mean(log_medians(rows[i].new_runs)) - mean(log_medians(rows[i].old_runs)));
    if (one_run_each(rows[i]))
      judge_samples(rows[i], options, result);
    else
      judge_runs(rows[i], variances[i], options, result);
    comparison.rows.push_back(result);
    ratios.push_back(result.ratio);
  }
  correct(comparison.rows, options.fewest_samples);
  for (RowComparison& row : comparison.rows) row.verdict = verdict_of(row, options);
  if (!ratios.empty()) comparison.geometric_mean = geometric_mean(ratios);
  return comparison;
}

}  // namespace attn
