// One body on its way through the sampler: how long its samples must be, how far it is and when it has enough.
#pragma once

#include <cstdint>
#include <optional>

#include "measure/sampler.h"

namespace attn {

class Sampling {
 public:
  // Keeps references to both: they must outlive it.
  Sampling(const TimedBody& body, const SamplerOptions& options, std::int64_t min_sample_ns);

  // One timed run; false if it was interrupted. It is a warm-up if one is due or if it was too short, and then the next is longer.
  bool step(bool wake_up);

  bool finished() const { return finished_; }
  // samples, inner iterations, warm-ups and the reason for stopping; once.
  Measurement take_result();

 private:
  bool interrupted() const;
  std::optional<std::int64_t> timed_run();
  void lengthen(std::int64_t elapsed_ns);
  void check_finished();
  void finish(StopReason reason);

  const TimedBody& body_;
  const SamplerOptions& options_;
  std::int64_t min_sample_ns_;
  std::int64_t iteration_ = 0;
  std::int64_t busy_ns_ = 0;
  bool finished_ = false;
  Measurement result_;
};

}  // namespace attn
