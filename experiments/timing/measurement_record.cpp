#include "timing/measurement_record.h"

#include <fmt/format.h>

#include "report/uncertainty.h"
#include "timing/time_statistics.h"

namespace attn {
namespace {

std::vector<Warning> restored_warnings(const Json& records) {
  std::vector<Warning> warnings;
  for (const Json& warning : records) {
    for (const WarningKind kind : {WarningKind::noise, WarningKind::outliers, WarningKind::load_by_others, WarningKind::frequency_scaling,
                                   WarningKind::above_ceiling, WarningKind::growth}) {
      if (warning.at("kind") == name_of(kind)) warnings.push_back({kind, warning.at("strong").get<bool>(), 0, 0, warning.at("text")});
    }
  }
  return warnings;
}

}  // namespace

double shown_s(const Measurement& measurement, Statistic statistic) {
  const Summary& s = *measurement.summary;
  return (statistic == Statistic::mean ? s.mean : statistic == Statistic::min ? s.min : s.median) / 1e9;
}

std::string time_text(const Measurement& measurement, Statistic statistic) {
  const double ms = 1e3 * shown_s(measurement, statistic);
  if (!measurement.noise) return fmt::format("{:.{}f}", ms, supported_decimals(0.05 * ms));
  const double half_iqr = measurement.summary->half_iqr / 1e6;
  if (half_iqr <= ms) return with_uncertainty(ms, half_iqr);
  const int decimals = supported_decimals(ms);  // noise beyond the time itself: its first digit, at least, and not "0 ± 2"
  return fmt::format("{:.{}f} ± {:.{}f}", ms, decimals, half_iqr, decimals);
}

void add_times(Row& record, const Measurement& measurement) {
  const Summary& s = *measurement.summary;
  record.measured("time_s", time_statistics(measurement.samples_ns));
  record.measured("time_median_s", s.median / 1e9).measured("samples", s.count).measured("samples_ns", measurement.samples_ns);
  record.measured("inner_iterations", measurement.inner_iterations).measured("warm_up_ns", measurement.warm_up_ns);
  record.measured("noise", measurement.noise ? Json(*measurement.noise) : Json());
  record.measured("stop_reason", name_of(measurement.stop_reason));
  Json warnings = Json::array();
  for (const Warning& warning : measurement.warnings) {
    warnings.push_back({{"kind", name_of(warning.kind)}, {"strong", warning.strong}, {"text", warning.text}});
  }
  record.measured("warnings", warnings);
}

Measurement restored_measurement(const Json& record) {
  Measurement m;
  m.name = record.at("algorithm").get<std::string>();
  m.samples_ns = record.at("samples_ns").get<std::vector<double>>();
  m.inner_iterations = record.at("inner_iterations").get<std::int64_t>();
  m.warm_up_ns = record.at("warm_up_ns").get<std::vector<double>>();
  m.summary = summarize(m.samples_ns);
  if (m.samples_ns.size() >= fewest_for_noise) m.noise = m.summary->relative_noise();
  for (const StopReason reason : {StopReason::noise, StopReason::repetitions, StopReason::time, StopReason::interrupted}) {
    if (record.at("stop_reason") == name_of(reason)) m.stop_reason = reason;
  }
  m.warnings = restored_warnings(record.at("warnings"));
  return m;
}

}  // namespace attn
