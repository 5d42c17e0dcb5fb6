#include "timing/measuring_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "machine/error.h"
#include "machine/threads.h"
#include "options/number_list.h"
#include "options/options.h"
#include "options/split.h"

namespace attn {
namespace {

std::vector<Precision> parse_dtypes(const std::string& text) {
  std::vector<Precision> dtypes;
  for (const std::string& name : split(text, ',')) {
    if (name != "f32" && name != "f64") throw UsageError(fmt::format("--dtype: expected f32 or f64, found '{}'", name));
    dtypes.push_back(name == "f32" ? Precision::f32 : Precision::f64);
  }
  return dtypes;
}

double parse_max_time(const std::string& text) {
  const double seconds = parse_number("--max-time", text);
  if (seconds <= 0) throw UsageError(fmt::format("--max-time: expected a number above 0, found '{}'", text));
  return seconds;
}

}  // namespace

void add_measuring_options(CLI::App& app, MeasuringOptions& options) {
  add_size(app, "--reps", options.reps, "Exactly so many samples per row").default_str("until the noise is below 2 %");
  add_parsed(
      app, "--max-time", "S", [&options](const std::string& text) { options.max_time_s = parse_max_time(text); },
      "Seconds of running time per row at the most")
      .default_str(fmt::format("{}", options.max_time_s));
  const std::vector<std::pair<std::string, Statistic>> statistics = {
      {"median", Statistic::median}, {"mean", Statistic::mean}, {"min", Statistic::min}};
  add_choice(app, "--stat", options.statistic, statistics, "Which statistic the text shows").default_str("median");
  add_flag(app, "--dry-run", options.dry_run,
           "Print the rows with their operations, bytes and the least time the ceilings allow; time nothing");
}

AddedOption add_dtypes(CLI::App& app, std::vector<Precision>& target) {
  std::vector<std::string_view> names;
  for (const Precision precision : target) names.push_back(name_of(precision));
  return add_parsed(
             app, "--dtype", "f32|f64,...", [&target](const std::string& text) { target = parse_dtypes(text); }, "Types of the elements")
      .default_str(fmt::format("{}", fmt::join(names, ",")));
}

SamplerOptions sampler_options(const MeasuringOptions& options) {
  SamplerOptions sampler;
  if (options.reps > 0) sampler.repetitions = static_cast<int>(options.reps);
  sampler.max_time_s = options.max_time_s;
  return sampler;
}

Ceilings arithmetic_ceilings(const std::vector<Precision>& precisions) {
  Ceilings ceilings;
  for (const Precision precision : precisions) {
    if (precision == Precision::f32 && ceilings.f32_all_threads.gflops == 0)
      ceilings.f32_all_threads = measure_arithmetic_peak<float>(threads());
    if (precision == Precision::f64 && ceilings.f64_all_threads.gflops == 0)
      ceilings.f64_all_threads = measure_arithmetic_peak<double>(threads());
  }
  return ceilings;
}

double peak_gflops_for(const Ceilings& ceilings, Precision precision, double gflops) {
  double peak = peak_gflops(ceilings, precision);
  constexpr int attempts = 3;
  for (int attempt = 0; attempt < attempts && peak > 0 && gflops > peak; ++attempt) {
    const ArithmeticPeak again =
        precision == Precision::f32 ? measure_arithmetic_peak<float>(threads()) : measure_arithmetic_peak<double>(threads());
    peak = std::max(peak, again.gflops);
  }
  return peak;
}

double peak_gflops(const Ceilings& ceilings, Precision precision) {
  return (precision == Precision::f32 ? ceilings.f32_all_threads : ceilings.f64_all_threads).gflops;
}

}  // namespace attn
