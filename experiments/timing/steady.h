// The steady protocol: distinct operands, outputs reused, warmed up, algorithms of one size interleaved, repeated until the noise is small
// or the time is up (measure/sampler.h). What was timed is checked afterwards.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/blas_library.h"
#include "measure/ceilings.h"
#include "measure/sampler.h"
#include "report/report.h"
#include "stream_rows.h"
#include "timing/measurement_record.h"
#include "timing/problem.h"

namespace attn {

// What is timed at every point: our own algorithm, or another library's product.
struct Contender {
  Work work = Work::scores;
  std::string algorithm;  // the work's name, or the library's
  std::shared_ptr<const BlasLibrary> library = nullptr;
};

struct SteadyOptions {
  std::vector<Contender> contenders;
  std::vector<TimingPoint> points;
  Modifiers modifiers;
  Seed seed;
  uint128 advance = 0;  // words of the stream that are left out before the first row
  SamplerOptions sampler = {};
  Statistic statistic = Statistic::median;
  bool stats = false;  // further lines on each row
};

// One row: a contender at a point.
struct SteadyRow {
  Contender contender;
  TimingPoint point;
  Json stream_position;
  Status status = Status::passed;
  std::string reason;
  std::string input_hash;
  std::string output_hash;
  std::optional<Measurement> measurement;
  double flops = 0;
  double bytes_model = 0;
  int input_buffers = 0;
  std::size_t peak_bytes = 0;  // of our own allocations for this row: one set of inputs, output, workspace
  std::optional<std::uint64_t> process_peak_bytes;
  std::optional<double> peak_gflops;        // what the cores can do in this type
  std::optional<double> read_gbps_ceiling;  // decode: reading so much memory again and again

  double median_s() const { return measurement->summary->median / 1e9; }
  double gflops() const { return flops / median_s() / 1e9; }
  double gbps() const { return bytes_model / median_s() / 1e9; }
  bool timed() const { return measurement && measurement->summary; }
};

// The arithmetic ceilings of the types in use; the others would take half a GB of memory, which the rows' own peak should not hide behind.
Ceilings arithmetic_ceilings(const std::vector<TimingPoint>& points);

// All contenders at one point, in their order. `stream` gives the numbers; rows that do not fit into memory are skipped.
std::vector<SteadyRow> measure_point(const SteadyOptions& options, const TimingPoint& point, RowStream& stream, const Ceilings& ceilings);

// The same from the finished rows of an earlier run, the stream passing over their numbers. Empty, and the stream where it was, unless all
// rows of the point are among them.
std::vector<SteadyRow> restore_point(const SteadyOptions& options, const TimingPoint& point, RowStream& stream,
                                     const std::vector<Json>& finished);

// Growth of one contender's time and memory over n, the other sizes being equal.
struct Growth {
  std::string name;
  double per_doubling_time = 0;
  double per_doubling_bytes = 0;
  double exponent = 0;
  std::optional<double> exponent_low, exponent_high;  // of the time, at 95 %
};

// One for every series of at least two sizes.
std::vector<Growth> growth_of(const std::vector<SteadyRow>& rows);

}  // namespace attn
