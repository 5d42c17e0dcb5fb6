#include "measure/clock.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "machine/error.h"

namespace attn {

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{1000000000} * now.tv_sec + now.tv_nsec;
}

std::int64_t clock_resolution_ns(const Clock& clock, int steps) {
  constexpr int patience = 1000000;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (int step = 0; step < steps; ++step) {
    const std::int64_t before = clock();
    std::int64_t after = clock();
    for (int reading = 0; after == before; ++reading) {
      if (reading == patience) throw Error("clock: expected it to advance, found it standing still");
      after = clock();
    }
    smallest = std::min(smallest, after - before);
  }
  return smallest;
}

}  // namespace attn
