#include "measure/sampling.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attn {
namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 30;  // of a body that takes no time at all

}  // namespace

Sampling::Sampling(const TimedBody& body, const SamplerOptions& options, std::int64_t min_sample_ns)
    : body_(body), options_(options), min_sample_ns_(min_sample_ns) {
  result_.name = body.name;
}

Measurement Sampling::take_result() { return std::move(result_); }

bool Sampling::step(bool wake_up) {
  const bool due = wake_up || result_.warm_up_ns.size() < static_cast<std::size_t>(options_.warm_ups);
  const auto elapsed_ns = timed_run();
  if (!elapsed_ns) return false;
  busy_ns_ += *elapsed_ns;
  const double each_ns = static_cast<double>(*elapsed_ns) / static_cast<double>(result_.inner_iterations);
  const bool too_short = *elapsed_ns < min_sample_ns_ && result_.inner_iterations < most_iterations;
  if (too_short) lengthen(*elapsed_ns);
  if (due || too_short) {
    result_.warm_up_ns.push_back(each_ns);
  } else {
    result_.samples_ns.push_back(each_ns);
    check_finished();
  }
  return true;
}

bool Sampling::interrupted() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

std::optional<std::int64_t> Sampling::timed_run() {
  const std::int64_t start = options_.clock();
  for (std::int64_t i = 0; i < result_.inner_iterations; ++i) {
    if (interrupted()) return std::nullopt;
    body_.run(static_cast<int>(iteration_++ % body_.input_buffers));
  }
  const std::int64_t elapsed = options_.clock() - start;
  if (interrupted()) return std::nullopt;
  return elapsed;
}

// Aims a fifth above the least, and never trusts one reading so far as to grow more than tenfold.
void Sampling::lengthen(std::int64_t elapsed_ns) {
  const double factor = 1.2 * static_cast<double>(min_sample_ns_) / static_cast<double>(std::max<std::int64_t>(elapsed_ns, 1));
  const double wanted = std::ceil(static_cast<double>(result_.inner_iterations) * std::min(factor, 10.0));
  result_.inner_iterations = std::min(most_iterations, std::max(result_.inner_iterations + 1, static_cast<std::int64_t>(wanted)));
}

void Sampling::check_finished() {
  const std::size_t count = result_.samples_ns.size();
  if (options_.repetitions) {
    if (count >= static_cast<std::size_t>(*options_.repetitions)) finish(StopReason::repetitions);
  } else if (count >= options_.fewest_samples && summarize(result_.samples_ns).relative_noise() < options_.noise_target) {
    finish(StopReason::noise);
  }
  if (!finished_ && static_cast<double>(busy_ns_) >= 1e9 * options_.max_time_s) finish(StopReason::time);
}

void Sampling::finish(StopReason reason) {
  finished_ = true;
  result_.stop_reason = reason;
}

}  // namespace attn
