#include "timing/time_statistics.h"

#include "measure/statistics.h"
#include "measure/warnings.h"

namespace attn {

Json time_statistics(std::span<const double> samples_ns) {
  const Summary s = summarize(samples_ns);
  return {{"median", s.median / 1e9},
          {"mean", s.mean / 1e9},
          {"min", s.min / 1e9},
          {"stddev", s.stddev / 1e9},
          {"half_iqr", samples_ns.size() >= fewest_for_noise ? Json(s.half_iqr / 1e9) : Json()}};
}

}  // namespace attn
