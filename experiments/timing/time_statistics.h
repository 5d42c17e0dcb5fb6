// The statistics of a row's samples as its JSON has them.
#pragma once

#include <span>

#include "report/json.h"

namespace attn {

// {median, mean, min, stddev, half_iqr} in seconds; half_iqr is null below the samples that a noise figure takes.
Json time_statistics(std::span<const double> samples_ns);

}  // namespace attn
