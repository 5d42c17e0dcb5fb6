#include "measure/sampler.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "machine/error.h"
#include "measure/machine_facts.h"
#include "measure/resource_usage.h"
#include "measure/sampling.h"

namespace attn {
namespace {

using Group = std::vector<Sampling*>;  // bodies that share a pool of threads

bool finished(const Group& group) {
  return std::all_of(group.begin(), group.end(), [](const Sampling* body) { return body->finished(); });
}

// One run of each unfinished body in turn; false if interrupted.
bool take_turns(const Group& group, bool wake_up) {
  for (Sampling* body : group) {
    if (!body->finished() && !body->step(wake_up)) return false;
  }
  return true;
}

std::vector<Group> grouped_by_pool(std::span<const TimedBody> bodies, std::vector<Sampling>& samplings) {
  std::vector<Group> groups;
  std::vector<std::string> pools;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto found = std::find(pools.begin(), pools.end(), bodies[i].thread_pool);
    const auto at = static_cast<std::size_t>(found - pools.begin());
    if (found == pools.end()) {
      pools.push_back(bodies[i].thread_pool);
      groups.emplace_back();
    }
    groups[at].push_back(&samplings[i]);
  }
  return groups;
}

// Blocks of the groups in turn, the order reversed every time; stops when all are finished or one run was interrupted.
void sample_in_blocks(std::vector<Group>& groups, const SamplerOptions& options) {
  const Group* last = nullptr;
  std::vector<const Group*> order;
  for (const Group& group : groups) order.push_back(&group);
  while (!std::all_of(groups.begin(), groups.end(), finished)) {
    for (const Group* group : order) {
      if (finished(*group)) continue;
      const bool changed = group != last;
      if (changed && last != nullptr) options.sleep(options.pool_pause_s);
      last = group;
      if (changed && !take_turns(*group, true)) return;
      for (int sample = 0; sample < options.block_samples; ++sample) {
        if (!take_turns(*group, false)) return;
      }
    }
    std::reverse(order.begin(), order.end());
  }
}

void sample_all(std::vector<Group>& groups, const SamplerOptions& options) {
  if (groups.size() > 1) return sample_in_blocks(groups, options);
  while (!finished(groups.front())) {
    if (!take_turns(groups.front(), false)) return;
  }
}

void require_sense(std::span<const TimedBody> bodies, const SamplerOptions& options) {
  for (const TimedBody& body : bodies) {
    if (body.input_buffers < 2) {
      throw UsageError("measure: input buffers of " + body.name + ": expected at least 2, found " + std::to_string(body.input_buffers));
    }
  }
  if (options.repetitions && *options.repetitions < 1) {
    throw UsageError("measure: repetitions: expected at least 1, found " + std::to_string(*options.repetitions));
  }
  if (!(options.max_time_s > 0)) {
    throw UsageError("measure: maximum time: expected a positive number of seconds, found " + std::to_string(options.max_time_s));
  }
}

// Sleeps in steps, so that a request to stop is heeded soon.
void sleep_unless_stopped(double seconds, const std::atomic<bool>* stop) {
  constexpr double step_s = 0.02;
  for (double left = seconds; left > 0 && (stop == nullptr || !stop->load()); left -= step_s) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, step_s)));
  }
}

SamplerOptions with_defaults(SamplerOptions options) {
  const std::atomic<bool>* stop = options.stop;
  if (!options.sleep) options.sleep = [stop](double seconds) { sleep_unless_stopped(seconds, stop); };
  if (!options.others_cpu_s) options.others_cpu_s = [] { return others_cpu_s(); };
  if (!options.frequency_scaling_enabled) {
    options.frequency_scaling_enabled = [] { return frequency_scaling_below("/sys/devices/system/cpu"); };
  }
  return options;
}

void add_judgement(Measurement& result, std::optional<bool> scaling, const SamplerOptions& options) {
  if (result.samples_ns.empty()) return;
  result.summary = summarize(result.samples_ns);
  if (result.samples_ns.size() >= fewest_for_noise) result.noise = result.summary->relative_noise();
  result.warnings = warnings_of_samples(result.samples_ns, options.limits);
  if (const auto warning = load_warning(result.others_cores, options.limits)) result.warnings.push_back(*warning);
  if (const auto warning = scaling_warning(scaling)) result.warnings.push_back(*warning);
}

}  // namespace

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::noise:
      return "noise";
    case StopReason::repetitions:
      return "repetitions";
    case StopReason::time:
      return "time";
    case StopReason::interrupted:
      break;
  }
  return "interrupted";
}

std::vector<Measurement> measure_interleaved(std::span<const TimedBody> bodies, const SamplerOptions& given) {
  require_sense(bodies, given);
  if (bodies.empty()) return {};
  const SamplerOptions options = with_defaults(given);
  const auto ticks_ns = options.min_sample_ticks * clock_resolution_ns(options.clock);
  const auto min_sample_ns = std::max(ticks_ns, static_cast<std::int64_t>(1e9 * options.min_sample_s));
  std::vector<Sampling> samplings;
  for (const TimedBody& body : bodies) samplings.emplace_back(body, options, min_sample_ns);
  std::vector<Group> groups = grouped_by_pool(bodies, samplings);

  const auto others_before_s = options.others_cpu_s();
  const std::int64_t start_ns = options.clock();
  sample_all(groups, options);
  const auto others_cores = average_load(others_before_s, options.others_cpu_s(), 1e-9 * static_cast<double>(options.clock() - start_ns));

  const auto scaling = options.frequency_scaling_enabled();
  std::vector<Measurement> results;
  for (Sampling& sampling : samplings) {
    results.push_back(sampling.take_result());
    results.back().others_cores = others_cores;
    add_judgement(results.back(), scaling, options);
  }
  return results;
}

Measurement measure(const TimedBody& body, const SamplerOptions& options) {
  return measure_interleaved(std::span(&body, 1), options).front();
}

}  // namespace attn
