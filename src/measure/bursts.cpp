#include "measure/bursts.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "measure/clock.h"

namespace attn {
namespace {

using Work = std::function<void(int thread, long repeats)>;

struct Burst {
  double wall_s = 0;  // from the first thread's start to the last one's end
  double cpu_s = 0;   // that the busiest thread computed: what a machine without other users would take
};

Burst run_burst(int threads, const Work& work, long repeats) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(threads));
  std::vector<std::int64_t> ends(starts.size());
  std::vector<std::int64_t> cpu_ns(starts.size());
#pragma omp parallel num_threads(threads)
  {
    // The runtime may give fewer threads than asked for: then some do the work of several, one after another.
    const int given = omp_get_num_threads();
#pragma omp barrier
    for (int thread = omp_get_thread_num(); thread < threads; thread += given) {
      const auto at = static_cast<std::size_t>(thread);
      const std::int64_t cpu_start = thread_cpu_ns();
      starts[at] = steady_now_ns();
      work(thread, repeats);
      ends[at] = steady_now_ns();
      cpu_ns[at] = thread_cpu_ns() - cpu_start;
    }
  }
  const auto wall_ns = *std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end());
  return {1e-9 * static_cast<double>(wall_ns), 1e-9 * static_cast<double>(*std::max_element(cpu_ns.begin(), cpu_ns.end()))};
}

// The repeats that make a burst of burst_s, found while warming up. Judged by CPU time: a burst may be long because a thread was just being
// created, or was interrupted.
long calibrated_repeats(int threads, const Work& work, const BurstOptions& options) {
  constexpr long most_repeats = 1L << 40;  // of work that takes no time
  const std::int64_t start_ns = steady_now_ns();
  long repeats = 1;
  for (;;) {
    const double cpu_s = run_burst(threads, work, repeats).cpu_s;
    const bool long_enough = cpu_s >= options.burst_s || repeats >= most_repeats;
    const bool warm = static_cast<double>(steady_now_ns() - start_ns) >= 1e9 * options.warm_up_s;
    if (long_enough && warm) return repeats;
    const double factor = std::clamp(1.1 * options.burst_s / std::max(cpu_s, 1e-9), 1.1, 100.0);
    if (!long_enough) repeats = static_cast<long>(std::ceil(static_cast<double>(repeats) * factor));
  }
}

}  // namespace

double best_rate(int threads, double units, const Work& work, const BurstOptions& options) {
  const long repeats = calibrated_repeats(threads, work, options);
  double shortest_s = run_burst(threads, work, repeats).wall_s;
  for (int burst = 1; burst < options.bursts; ++burst) shortest_s = std::min(shortest_s, run_burst(threads, work, repeats).wall_s);
  return units * static_cast<double>(threads) * static_cast<double>(repeats) / shortest_s;
}

}  // namespace attn
