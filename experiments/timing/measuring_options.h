// Options of all that is timed by the one sampler (measure/sampler.h), spelled alike everywhere.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "measure/ceilings.h"
#include "options/options.h"
#include "timing/measurement_record.h"
#include "timing/problem.h"

namespace attn {

struct MeasuringOptions {
  Index reps = 0;  // 0: until the noise is below 2 %
  double max_time_s = 5;
  Statistic statistic = Statistic::median;
  bool dry_run = false;
};

// --reps, --max-time, --stat, --dry-run.
void add_measuring_options(CLI::App& app, MeasuringOptions& options);

// --dtype; the present value is the default that --help shows.
AddedOption add_dtypes(CLI::App& app, std::vector<Precision>& target);

SamplerOptions sampler_options(const MeasuringOptions& options);

// The ceilings of arithmetic of these types with all threads, and nothing else: the others would take half a GB of memory, which a row's
// own peak should not hide behind.
Ceilings arithmetic_ceilings(const std::vector<Precision>& precisions);

// What the cores can do in this type, of measured ceilings.
double peak_gflops(const Ceilings& ceilings, Precision precision);

// The same for rows of which the fastest came to `gflops`. Where that is more, the ceiling was measured in a moment when others slowed the
// machine down: it is measured again, three times at the most, and the highest counts. 0 where it was not measured at all.
double peak_gflops_for(const Ceilings& ceilings, Precision precision, double gflops);

// Of the rows that were timed, in GFLOP/s; 0 where none was.
template <class TimedRow>
double fastest_gflops(const std::vector<TimedRow>& rows) {
  double fastest = 0;
  for (const TimedRow& row : rows) fastest = std::max(fastest, row.timed() ? row.gflops() : 0);
  return fastest;
}

}  // namespace attn
