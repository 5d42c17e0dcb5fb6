// A measurement as a report shows and keeps it, and as --resume takes it back.
#pragma once

#include <string>
#include <vector>

#include "measure/sampler.h"
#include "report/report.h"
#include "resume.h"

namespace attn {

// Which statistic of the samples the text shows.
enum class Statistic { median, mean, min };

// Of a measurement with samples, in seconds.
double shown_s(const Measurement& measurement, Statistic statistic);

// "17.2 ± 0.3": the statistic in ms with as many digits as the noise supports, and the noise where it is known.
std::string time_text(const Measurement& measurement, Statistic statistic);

// time_s and what belongs to it, for a measurement with samples.
void add_times(Row& record, const Measurement& measurement);

// The measurement that `record`, a finished row of an earlier run, was made from.
Measurement restored_measurement(const Json& record);

// Takes over what a timed row of an earlier run came to: status, reason, hashes, measurement and the arithmetic's ceiling. False where
// there is none (`found` is null) or it was not timed.
template <class R>
bool restore_timed(R& row, const Json* found) {
  if (found == nullptr || !found->contains("samples_ns")) return false;
  row.status = found->at("status") == "passed" ? Status::passed : Status::failed;
  if (found->at("reason").is_string()) row.reason = found->at("reason");
  row.input_hash = found->at("input_hash");
  row.output_hash = found->at("output_hash");
  row.measurement = restored_measurement(*found);
  row.peak_gflops = optional_number<double>(*found, "peak_gflops");
  return true;
}

}  // namespace attn
