// What a reader of a timing must know before he believes it. Warnings are data: the program prints them and keeps them in the row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

enum class WarningKind {
  noise,              // half-IQR over median is large
  outliers,           // some samples lie far from the rest
  load_by_others,     // other processes kept processors busy meanwhile
  frequency_scaling,  // a governor may change the frequency
  above_ceiling,      // faster than the machine was measured to be: one of the two is wrong
  growth,             // time grows otherwise than the operation count
};

// A stable word for each kind: "noise", "outliers", "load_by_others", ...
std::string_view name_of(WarningKind kind);

struct Warning {
  WarningKind kind;
  bool strong = false;  // to be said in stronger words
  double value = 0;     // what was found
  double limit = 0;     // what was expected at most, or for growth the exponent of the operation count
  std::string text;     // one line for people
};

struct WarningLimits {
  double noise = 0.05;
  double strong_noise = 0.12;
  double others_cores = 0.1;  // average number of processors that others kept busy
  double exponent = 0.1;      // by which growth may differ, beyond its confidence interval
};

// Samples below this number give no figure of noise.
inline constexpr std::size_t fewest_for_noise = 5;

// Noise and outliers of a set of samples; nothing below fewest_for_noise of them.
std::vector<Warning> warnings_of_samples(std::span<const double> samples, const WarningLimits& limits = {});

// `others_cores` is empty where it could not be seen.
std::optional<Warning> load_warning(std::optional<double> others_cores, const WarningLimits& limits = {});

// `enabled` is empty where it could not be seen: no warning then.
std::optional<Warning> scaling_warning(std::optional<bool> enabled);

// For a rate above the ceiling measured for it; `what` names both ("GFLOP/s", "read GB/s").
std::optional<Warning> ceiling_warning(double rate, double ceiling, std::string_view what);

// For times whose exponent over sizes differs from that of the operation counts by more than its confidence interval and limits.exponent.
// Needs three sizes.
std::optional<Warning> growth_warning(std::span<const double> sizes, std::span<const double> times, std::span<const double> operations,
                                      const WarningLimits& limits = {});

}  // namespace attn
