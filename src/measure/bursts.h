// Rates at their best: short bursts of work by all threads at once, the fastest of which counts. A ceiling is a maximum; the mean of a
// shared machine says more about its other users.
#pragma once

#include <functional>

namespace attn {

struct BurstOptions {
  double warm_up_s = 0.03;  // before the first burst: the clock frequency rises, threads wake up, wide vector units are powered
  double burst_s = 0.004;   // at least; long enough for the threads' different starts (microseconds) not to matter
  int bursts = 8;
};

// The highest rate, in units of work per second, at which `threads` threads together carry out `work(thread, repeats)`, which is `units`
// units of work per thread and repeat. The repeats are chosen so that a burst lasts burst_s. Threads start together; a burst ends when
// the last of them does.
double best_rate(int threads, double units, const std::function<void(int thread, long repeats)>& work, const BurstOptions& options = {});

}  // namespace attn
