#include "measure/core_round_trip.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <system_error>
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

using Clock = std::chrono::steady_clock;

// Longer than a pair needs by far: other work keeps it from the CPUs, or the threads have lost them, and each trip takes a time slice.
constexpr std::chrono::milliseconds most_time{200};

// The line that goes to and fro, with none of its neighbours fetched along.
struct alignas(256) Line {
  std::atomic<int> value{0};

  // False where the value does not come until `deadline`.
  bool wait_for(int wanted, Clock::time_point deadline) const {
    for (int polls = 1; value.load(std::memory_order_acquire) != wanted; ++polls) {
      if (polls % 4096 != 0) continue;
      if (Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  void set(int to) { value.store(to, std::memory_order_release); }
};

// Two threads, apart from the caller, whose binding stays.
class PingPong {
 public:
  // The best mean round trip of the series that end in time, in ns, or none where none does, or threads cannot be had or bound.
  std::optional<double> measure(int cpu, int partner_cpu) {
    deadline_ = Clock::now() + most_time;
    std::thread caller;
    std::thread partner;
    try {
      caller = std::thread([&] { serve(cpu); });
      partner = std::thread([&] { answer(partner_cpu); });
    } catch (const std::system_error&) {
      failed_ = true;  // the one that there may be does not wait for the other
    }
    if (caller.joinable()) caller.join();
    if (partner.joinable()) partner.join();
    if (failed_ || best_ == std::numeric_limits<double>::infinity()) return std::nullopt;
    return best_;
  }

 private:
  // Whether both threads are bound.
  bool start(int cpu) {
    if (!bind_to(cpu)) failed_ = true;
    ++arrived_;
    while (arrived_ < 2 && !failed_) std::this_thread::yield();
    return !failed_;
  }

  void serve(int cpu) {
    if (!start(cpu)) return;
    for (int s = 0, at = 0; s < series; ++s) {
      const Clock::time_point begin = Clock::now();
      for (int trip = 0; trip < trips_per_series; ++trip, at += 2) {
        line_.set(at + 1);
        if (!line_.wait_for(at + 2, deadline_)) return;
      }
      best_ = std::min(best_, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / trips_per_series);
    }
  }

  void answer(int cpu) {
    if (!start(cpu)) return;
    for (int at = 0; at < 2 * series * trips_per_series; at += 2) {
      if (!line_.wait_for(at + 1, deadline_)) return;
      line_.set(at + 2);
    }
  }

  Line line_;
  std::atomic<int> arrived_{0};
  std::atomic<bool> failed_{false};
  Clock::time_point deadline_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::optional<CoreRoundTrips> measure_core_round_trips() {
  const std::vector<int> cpus = affinity_cpus();
  if (cpus.size() < 2) return std::nullopt;
  CoreRoundTrips result{0, std::numeric_limits<double>::infinity(), 0};
  const std::size_t partners = std::min(cpus.size() - 1, most_partners);
  for (std::size_t i = 0; i < partners; ++i) {
    const auto ns = PingPong().measure(cpus.front(), cpus[1 + i * (cpus.size() - 1) / partners]);
    if (!ns) return std::nullopt;
    ++result.pairs;
    result.fastest_ns = std::min(result.fastest_ns, *ns);
    result.slowest_ns = std::max(result.slowest_ns, *ns);
  }
  return result;
}

}  // namespace attn
