#include "measure/core_round_trip.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "machine/threads.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace attn {
namespace {

constexpr int series = 10;
constexpr int trips_per_series = 300;
constexpr std::size_t most_partners = 64;

// Whether the calling thread is bound to `cpu` now.
bool bind_to(int cpu) {
#if defined(__linux__)
  cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(cpu) + 1);
  if (mask == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpu) + 1);
  CPU_ZERO_S(bytes, mask);
  CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
  const bool bound = pthread_setaffinity_np(pthread_self(), bytes, mask) == 0;
  CPU_FREE(mask);
  return bound;
#else
  (void)cpu;
  return false;
#endif
}

// The line that goes to and fro, with none of its neighbours fetched along.
struct alignas(256) Line {
  std::atomic<int> value{0};

  void wait_for(int wanted) const {
    while (value.load(std::memory_order_acquire) != wanted) {
    }
  }
  void set(int to) { value.store(to, std::memory_order_release); }
};

// The best mean round trip of a series, or none where the threads cannot be bound. Both run apart from the caller, whose binding stays.
std::optional<double> round_trip_ns(int cpu, int partner_cpu) {
  using Clock = std::chrono::steady_clock;
  Line line;
  std::atomic<int> arrived{0};
  std::atomic<bool> bound{true};
  double best = std::numeric_limits<double>::infinity();
  const auto both_bound = [&](int own_cpu) {
    if (!bind_to(own_cpu)) bound = false;
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    return bound.load();
  };
  std::thread caller([&] {
    if (!both_bound(cpu)) return;
    for (int s = 0, at = 0; s < series; ++s) {
      const Clock::time_point start = Clock::now();
      for (int trip = 0; trip < trips_per_series; ++trip, at += 2) {
        line.set(at + 1);
        line.wait_for(at + 2);
      }
      best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / trips_per_series);
    }
  });
  std::thread partner([&] {
    if (!both_bound(partner_cpu)) return;
    for (int at = 0; at < 2 * series * trips_per_series; at += 2) {
      line.wait_for(at + 1);
      line.set(at + 2);
    }
  });
  caller.join();
  partner.join();
  if (!bound) return std::nullopt;
  return best;
}

}  // namespace

std::optional<CoreRoundTrips> measure_core_round_trips() {
  const std::vector<int> cpus = affinity_cpus();
  if (cpus.size() < 2) return std::nullopt;
  CoreRoundTrips result{0, std::numeric_limits<double>::infinity(), 0};
  const std::size_t partners = std::min(cpus.size() - 1, most_partners);
  for (std::size_t i = 0; i < partners; ++i) {
    const auto ns = round_trip_ns(cpus.front(), cpus[1 + i * (cpus.size() - 1) / partners]);
    if (!ns) return std::nullopt;
    ++result.pairs;
    result.fastest_ns = std::min(result.fastest_ns, *ns);
    result.slowest_ns = std::max(result.slowest_ns, *ns);
  }
  return result;
}

}  // namespace attn
