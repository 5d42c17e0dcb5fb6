#include "measure/run_variance.h"

#include <cmath>
#include <limits>

#include "measure/distributions.h"
#include "measure/statistics.h"

namespace attn {
namespace {

bool informative(const VarianceEstimate& row) { return row.degrees > 0 && row.variance > 0; }

// The sample variance of `values` and one standard error more, from their fourth moment.
double cautious_variance(const std::vector<double>& values) {
  const double centre = mean(values);
  std::vector<double> squares;
  for (const double value : values) squares.push_back((value - centre) * (value - centre));
  const double variance = std::pow(standard_deviation(values), 2);
  return variance + estimate_mean(squares).standard_error;
}

// The distribution that the rows' variances come from: s0^2 and d0 of Smyth's section 6.2, by the first two moments of log s^2. The second
// is taken one standard error greater than found: rows thought more alike than they are would be false alarms.
VarianceEstimate common_prior(std::span<const VarianceEstimate> rows) {
  std::vector<double> logs;  // of s^2, less what chance adds to its logarithm
  double by_chance = 0;      // the variance of log s^2 if all rows had one variance
  for (const VarianceEstimate& row : rows) {
    if (!informative(row)) continue;
    logs.push_back(std::log(row.variance) - digamma(row.degrees / 2) + std::log(row.degrees / 2));
    by_chance += trigamma(row.degrees / 2);
  }
  const double spread = cautious_variance(logs) - by_chance / static_cast<double>(logs.size());
  if (spread <= 0) return {std::exp(mean(logs)), std::numeric_limits<double>::infinity()};
  const double half_degrees = inverse_trigamma(spread);
  return {std::exp(mean(logs) + digamma(half_degrees) - std::log(half_degrees)), 2 * half_degrees};
}

}  // namespace

std::vector<VarianceEstimate> moderate_variances(std::span<const VarianceEstimate> rows, std::size_t fewest_rows) {
  std::vector<VarianceEstimate> moderated(rows.begin(), rows.end());
  std::size_t count = 0;
  for (const VarianceEstimate& row : rows) count += informative(row) ? 1 : 0;
  if (count < fewest_rows) return moderated;

  const VarianceEstimate prior = common_prior(rows);
  for (VarianceEstimate& row : moderated) {
    if (row.degrees <= 0) continue;
    if (std::isinf(prior.degrees)) {
      row = prior;
    } else {
      const double degrees = prior.degrees + row.degrees;
      row = {(prior.degrees * prior.variance + row.degrees * row.variance) / degrees, degrees};
    }
  }
  return moderated;
}

}  // namespace attn
