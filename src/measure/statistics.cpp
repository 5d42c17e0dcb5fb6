#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "machine/error.h"

namespace attn {
namespace {

void require_samples(std::span<const double> samples) {
  if (samples.empty()) throw UsageError("statistics: samples: expected at least one, found none");
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantile_of_sorted(const std::vector<double>& samples, double q) {
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double weight = position - static_cast<double>(below);
  return samples[below] + weight * (samples[above] - samples[below]);
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  require_samples(samples);
  if (!(q >= 0 && q <= 1)) throw UsageError("statistics: quantile: expected a number from 0 to 1, found " + std::to_string(q));
  return quantile_of_sorted(sorted(samples), q);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double mean(std::span<const double> samples) {
  require_samples(samples);
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double standard_deviation(std::span<const double> samples) {
  const double centre = mean(samples);
  if (samples.size() == 1) return 0;
  double squares = 0;
  for (const double sample : samples) squares += (sample - centre) * (sample - centre);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

Summary summarize(std::span<const double> samples) {
  require_samples(samples);
  const std::vector<double> ordered = sorted(samples);
  Summary summary;
  summary.count = ordered.size();
  summary.median = quantile_of_sorted(ordered, 0.5);
  summary.half_iqr = (quantile_of_sorted(ordered, 0.75) - quantile_of_sorted(ordered, 0.25)) / 2;
  summary.mean = mean(samples);
  summary.stddev = standard_deviation(samples);
  summary.min = ordered.front();
  summary.max = ordered.back();
  return summary;
}

std::vector<double> modified_z_scores(std::span<const double> samples) {
  const double centre = median(samples);
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::abs(sample - centre));
  const double mad = median(deviations);
  const double scale = mad > 0 ? mad / 0.6745 : 1.253314 * mean(deviations);
  std::vector<double> scores;
  for (const double sample : samples) scores.push_back(scale > 0 ? (sample - centre) / scale : 0.0);
  return scores;
}

std::vector<std::size_t> outliers(std::span<const double> samples, double threshold) {
  const std::vector<double> scores = modified_z_scores(samples);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::abs(scores[i]) > threshold) positions.push_back(i);
  }
  return positions;
}

MeanEstimate estimate_mean(std::span<const double> values) {
  return {mean(values), standard_deviation(values) / std::sqrt(static_cast<double>(values.size()))};
}

double geometric_mean(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (!(value > 0)) throw UsageError("statistics: geometric mean: expected positive values, found " + std::to_string(value));
    logs.push_back(std::log(value));
  }
  return std::exp(mean(logs));
}

}  // namespace attn
