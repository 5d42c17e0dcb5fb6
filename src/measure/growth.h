// How a time or a memory use grows with the size: the exponent e of y = c n^e, fitted by least squares on logarithmic axes.
#pragma once

#include <optional>
#include <span>

namespace attn {

// A straight line y = intercept + slope x by least squares.
struct LineFit {
  double intercept = 0;
  double slope = 0;
  std::optional<double> slope_error;  // standard error of the slope; empty for two points, which leave nothing to estimate it from
};

// Throws UsageError unless x and y have the same length and x two different values.
LineFit fit_line(std::span<const double> x, std::span<const double> y);

struct GrowthFit {
  double exponent = 0;
  double growth_per_doubling = 0;  // 2^exponent, whatever steps the sizes took
  // Confidence interval of the exponent by Student's t; empty below three sizes.
  std::optional<double> exponent_low;
  std::optional<double> exponent_high;
};

// Fits values[i] = c sizes[i]^e. Empty where there is nothing to fit: fewer than two different sizes, or values that are not positive.
std::optional<GrowthFit> fit_growth(std::span<const double> sizes, std::span<const double> values, double confidence = 0.95);

}  // namespace attn
