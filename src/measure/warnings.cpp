#include "measure/warnings.h"

#include <fmt/format.h>

#include <cmath>

#include "measure/growth.h"
#include "measure/statistics.h"

namespace attn {

std::string_view name_of(WarningKind kind) {
  switch (kind) {
    case WarningKind::noise:
      return "noise";
    case WarningKind::outliers:
      return "outliers";
    case WarningKind::load_by_others:
      return "load_by_others";
    case WarningKind::frequency_scaling:
      return "frequency_scaling";
    case WarningKind::above_ceiling:
      return "above_ceiling";
    case WarningKind::growth:
      break;
  }
  return "growth";
}

std::vector<Warning> warnings_of_samples(std::span<const double> samples, const WarningLimits& limits) {
  std::vector<Warning> warnings;
  if (samples.size() < fewest_for_noise) return warnings;
  const double noise = summarize(samples).relative_noise();
  if (noise > limits.strong_noise) {
    warnings.push_back({WarningKind::noise, true, noise, limits.strong_noise,
                        fmt::format("very noisy: half-IQR is {:.0f} % of the median; do not compare this figure", 100 * noise)});
  } else if (noise > limits.noise) {
    warnings.push_back(
        {WarningKind::noise, false, noise, limits.noise, fmt::format("noisy: half-IQR is {:.1f} % of the median", 100 * noise)});
  }
  const std::size_t far = outliers(samples).size();
  if (far > 0) {
    warnings.push_back({WarningKind::outliers, false, static_cast<double>(far), 0,
                        fmt::format("{} of {} samples {} outlying (modified Z above 3.5)", far, samples.size(), far == 1 ? "is" : "are")});
  }
  return warnings;
}

std::optional<Warning> load_warning(std::optional<double> others_cores, const WarningLimits& limits) {
  if (!others_cores || *others_cores <= limits.others_cores) return std::nullopt;
  return Warning{WarningKind::load_by_others, *others_cores > 5 * limits.others_cores, *others_cores, limits.others_cores,
                 fmt::format("other processes kept {:.1f} processors busy meanwhile", *others_cores)};
}

std::optional<Warning> scaling_warning(std::optional<bool> enabled) {
  if (!enabled.value_or(false)) return std::nullopt;
  return Warning{WarningKind::frequency_scaling, false, 1, 0,
                 "frequency scaling is on: the governor is not \"performance\", speeds depend on what ran before"};
}

std::optional<Warning> ceiling_warning(double rate, double ceiling, std::string_view what) {
  if (!(rate > ceiling)) return std::nullopt;
  return Warning{WarningKind::above_ceiling, false, rate, ceiling,
                 fmt::format("{:.4g} {} is above the measured ceiling of {:.4g}: the ceiling was measured in a slower moment, or the "
                             "count of operations or bytes is wrong",
                             rate, what, ceiling)};
}

std::optional<Warning> growth_warning(std::span<const double> sizes, std::span<const double> times, std::span<const double> operations,
                                      const WarningLimits& limits) {
  const auto time = fit_growth(sizes, times);
  const auto work = fit_growth(sizes, operations);
  if (!time || !work || !time->exponent_low) return std::nullopt;
  const bool inside = *time->exponent_low <= work->exponent && work->exponent <= *time->exponent_high;
  if (inside || std::abs(time->exponent - work->exponent) <= limits.exponent) return std::nullopt;
  return Warning{WarningKind::growth, false, time->exponent, work->exponent,
                 fmt::format("time grows as n^{:.2f} (between {:.2f} and {:.2f}), operations as n^{:.2f}", time->exponent,
                             *time->exponent_low, *time->exponent_high, work->exponent)};
}

}  // namespace attn
