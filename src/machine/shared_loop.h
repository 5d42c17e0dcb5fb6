// A loop within a parallel region, shared out so that neighbouring steps stay together.
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace attn {

// Loops whose steps threads take from ranges of their own, one range per thread, and, when that is done, from what others have left. Thus
// all end together, and a thread mostly meets the same part of the data from one loop to the next: it lies in its caches, while lines that
// another core has written take several times as long, and longer still where the cores share no cache.
//
// Made before the parallel region, for at least as many threads as it gets; every thread of it calls run for every loop, in the same order.
class SharedLoop {
 public:
  explicit SharedLoop(int most_threads) : taken_(static_cast<std::size_t>(2 * most_threads)) {}

  // Calls body(i) for 0 <= i < count, each i on one of the threads, and waits for all of them. `loop` counts the caller's loops from 0.
  // body must not throw.
  template <class Body>
  void run(std::int64_t count, std::int64_t loop, Body&& body) {
    const int num_threads = omp_get_num_threads();
    const int thread = omp_get_thread_num();
    // The other counters served the loop before, which all threads have left, and will serve the next.
    taken(loop + 1, thread).store(0, std::memory_order_relaxed);
    for (int turn = 0; turn < num_threads; ++turn) {
      const int owner = (thread + turn) % num_threads;
      const std::int64_t first = count * owner / num_threads;
      const std::int64_t size = count * (owner + 1) / num_threads - first;
      // Looked at before it is counted up: lines that many threads write in turn are slow.
      while (taken(loop, owner).load(std::memory_order_relaxed) < size) {
        const std::int64_t step = taken(loop, owner).fetch_add(1, std::memory_order_relaxed);
        if (step >= size) break;
        body(first + step);
      }
    }
#pragma omp barrier
  }

 private:
  struct alignas(64) Counter {
    std::atomic<std::int64_t> value{0};
  };

  std::atomic<std::int64_t>& taken(std::int64_t loop, int thread) { return taken_[static_cast<std::size_t>(2 * thread + loop % 2)].value; }

  std::vector<Counter> taken_;  // steps taken of each thread's range: of this loop and of the next
};

}  // namespace attn
