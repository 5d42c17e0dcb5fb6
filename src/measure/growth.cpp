#include "measure/growth.h"

#include <cmath>
#include <vector>

#include "machine/error.h"
#include "measure/distributions.h"
#include "measure/statistics.h"

namespace attn {
namespace {

// Natural logarithms; empty where a value has none.
std::optional<std::vector<double>> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
    logs.push_back(std::log(value));
  }
  return logs;
}

bool all_equal(std::span<const double> values) {
  for (const double value : values) {
    if (value != values.front()) return false;
  }
  return true;
}

}  // namespace

LineFit fit_line(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.empty() || all_equal(x)) throw UsageError("fit: expected as many y as x and two different x");
  const double x_mean = mean(x);
  const double y_mean = mean(y);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  LineFit fit;
  fit.slope = xy / xx;
  fit.intercept = y_mean - fit.slope * x_mean;
  if (x.size() == 2) return fit;
  double residuals = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = (y[i] - y_mean) - fit.slope * (x[i] - x_mean);
    residuals += residual * residual;
  }
  fit.slope_error = std::sqrt(residuals / static_cast<double>(x.size() - 2) / xx);
  return fit;
}

std::optional<GrowthFit> fit_growth(std::span<const double> sizes, std::span<const double> values, double confidence) {
  const auto x = logarithms(sizes);
  const auto y = logarithms(values);
  if (!x || !y || x->size() != y->size() || x->empty() || all_equal(*x)) return std::nullopt;
  const LineFit line = fit_line(*x, *y);
  GrowthFit fit;
  fit.exponent = line.slope;
  fit.growth_per_doubling = std::exp2(line.slope);
  if (line.slope_error) {
    const double half_width = *line.slope_error * student_t_two_sided_quantile(1 - confidence, static_cast<double>(x->size() - 2));
    fit.exponent_low = fit.exponent - half_width;
    fit.exponent_high = fit.exponent + half_width;
  }
  return fit;
}

}  // namespace attn
