// The options of `attn timing-sweep`: what is timed, at which sizes, and how.
#pragma once

#include <string>
#include <vector>

#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"
#include "report/report.h"
#include "timing/measuring_options.h"
#include "timing/problem.h"

namespace attn {

struct TimingOptions : MeasuringOptions {
  std::vector<Work> what = {Work::scores};
  std::vector<Index> n = {512, 1024, 2048, 4096};
  std::vector<Index> n_k = {0};
  std::vector<Index> d = {64};
  std::vector<Index> d_v = {0};
  std::vector<Index> heads = {1};
  std::vector<Index> kv_heads = {0};
  std::vector<Index> batch = {1};
  std::vector<Precision> dtype = {Precision::f64};
  Modifiers modifiers;
  std::string protocol;
  std::vector<std::string> vs;
  bool stats = false;
  bool explain = false;
  Seed seed;
  uint128 advance = 0;
};

// The options that are axes, in the order in which unnamed ones vary.
struct TimingAxes {
  AddedOption dtype, batch, heads, kv_heads, d, d_v, n, n_k;
};

// Adds all of them; the result is valid as long as `app`.
TimingAxes add_timing_options(CLI::App& app, TimingOptions& options);

// All combinations of the axes, the first named in `app` varying slowest. Throws UsageError where kv_heads do not divide heads.
std::vector<TimingPoint> points_of(const TimingOptions& options, const TimingAxes& axes, const CLI::App& app);

// Throws UsageError where --explain stands beside anything but sizes and the seed, which would be ignored.
void check_explain(const TimingOptions& options, const TimingAxes& axes);

// Throws UsageError for an option that says nothing about any work of --what.
void check_used(const TimingOptions& options, const TimingAxes& axes);

// Whether document 1's protocol is meant. Throws UsageError for what it cannot be combined with.
bool article_protocol(const TimingOptions& options, const TimingAxes& axes);

// All that numbers and times depend on; `--resume` wants it to be the same.
Json args_of(const TimingOptions& options, bool article);

}  // namespace attn
