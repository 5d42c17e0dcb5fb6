// A measurement as a report shows and keeps it, and as --resume takes it back.
#pragma once

#include <string>
#include <vector>

#include "measure/sampler.h"
#include "report/report.h"

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

}  // namespace attn
