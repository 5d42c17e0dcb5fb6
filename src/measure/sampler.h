// The one sampler of all timed experiments.
//
// A sample times as many iterations as make at least a millisecond and 100 ticks of the clock. What comes before the first sample (at
// least one run) and runs that turn out too short are warm-ups, kept apart. Sampling of a body ends when the noise is small, when it has
// as many samples as asked for, or when its time is up, and the result says which.
//
// Bodies that share a pool of threads take turns sample by sample, so that a slow moment of the machine strikes all of them. Pools that
// spin after their work spoil each other, so bodies of different pools take turns in blocks, in alternating order (AB BA AB ...), after a
// pause in which the other pool goes to sleep; the first run of a block wakes the pool up and is a warm-up.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/clock.h"
#include "measure/statistics.h"
#include "measure/warnings.h"

namespace attn {

struct TimedBody {
  std::string name;
  // One iteration on the input buffer of that number, 0 to input_buffers - 1 in turn: no body may live on what its last call left in the
  // cache unless its callers would.
  std::function<void(int buffer)> run;
  int input_buffers = 2;      // at least 2
  std::string thread_pool{};  // bodies with different names here run in separate blocks
};

enum class StopReason { noise, repetitions, time, interrupted };

// "noise", "repetitions", "time", "interrupted"
std::string_view name_of(StopReason reason);

struct SamplerOptions {
  double noise_target = 0.02;      // stop where half-IQR / median falls below it ...
  std::size_t fewest_samples = 5;  // ... with at least so many samples
  std::optional<int> repetitions;  // exactly so many samples instead, however small the noise
  double max_time_s = 10;          // of a body's own running time; there is at least one sample
  int warm_ups = 1;                // at least
  double min_sample_s = 1e-3;
  int min_sample_ticks = 100;
  int block_samples = 5;      // of each body in a block of its pool
  double pool_pause_s = 0.2;  // 0.2 was seen to be enough for OpenMP's and OpenBLAS's threads to sleep, 0.02 was not
  WarningLimits limits;

  // Set from outside (a signal handler) to end everything: looked at between iterations.
  const std::atomic<bool>* stop = nullptr;

  // The outside world; tests put their own in.
  Clock clock = steady_now_ns;
  std::function<void(double seconds)> sleep;                       // default: std::this_thread::sleep_for, in steps that heed `stop`
  std::function<std::optional<double>()> others_cpu_s;             // default: attn::others_cpu_s
  std::function<std::optional<bool>()> frequency_scaling_enabled;  // default: what machine_facts() says
};

struct Measurement {
  std::string name;
  std::vector<double> samples_ns;     // time per iteration of each sample
  std::int64_t inner_iterations = 1;  // per sample
  std::vector<double> warm_up_ns;     // time per iteration of each warm-up
  std::optional<Summary> summary;     // of samples_ns; empty without samples
  std::optional<double> noise;        // half-IQR / median; empty below fewest_for_noise samples
  StopReason stop_reason = StopReason::interrupted;
  std::vector<Warning> warnings;       // those about samples, load and frequency; rates and growth are for those who know them
  std::optional<double> others_cores;  // processors that others kept busy on average; empty where unknown or too short to tell
};

// Measures all bodies, interleaved; results in the order given. An exception of a body ends the sampling and is passed on.
// Throws UsageError for a body without two buffers or options that make no sense.
std::vector<Measurement> measure_interleaved(std::span<const TimedBody> bodies, const SamplerOptions& options = {});

// The same for a single body.
Measurement measure(const TimedBody& body, const SamplerOptions& options = {});

}  // namespace attn
