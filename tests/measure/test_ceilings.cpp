// Ceilings: what is counted and by whom. How fast the machine is, no test can know.
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "machine/error.h"
#include "machine/isa_targets.h"
#include "measure/arithmetic_peak.h"
#include "measure/bursts.h"
#include "measure/ceilings.h"
#include "measure/memory_bandwidth.h"

using namespace attn;

namespace {

constexpr BurstOptions brief{.warm_up_s = 0, .burst_s = 1e-5, .bursts = 2};

struct Unforced {
  ~Unforced() { unforce_target(); }
};

}  // namespace

TEST_CASE("a burst is the same work on every thread") {
  std::mutex mutex;
  std::multiset<std::pair<long, int>> calls;  // repeats, thread
  std::atomic<double> sink{0};
  const auto work = [&](int thread, long repeats) {
    for (long i = 0; i < 100 * repeats; ++i) sink = sink + 1;
    const std::lock_guard lock(mutex);
    calls.emplace(repeats, thread);
  };
  CHECK(best_rate(3, 7, work, {.warm_up_s = 0, .burst_s = 1e-3, .bursts = 2}) > 0);
  for (const auto& [repeats, thread] : calls) {
    CHECK(calls.count({repeats, 0}) == calls.count({repeats, 2}));
    CHECK(calls.count({repeats, 0}) == calls.count({repeats, thread}));
    CHECK(thread >= 0);
    CHECK(thread < 3);
  }
  CHECK(calls.rbegin()->first > 1);  // one repeat is shorter than a burst should be
}

TEST_CASE("every target has a peak of its own, fused where it has the instruction") {
  const Unforced restore;
  for (const std::string& target : available_targets()) {
    CAPTURE(target);
    force_target(target);
    for (const ArithmeticPeak& peak : {measure_arithmetic_peak<float>(1, brief), measure_arithmetic_peak<double>(2, brief)}) {
      CHECK(std::isfinite(peak.gflops));
      CHECK(peak.gflops > 0);
      CHECK(peak.isa == target);
      if (target == "AVX3" || target == "AVX2" || target == "NEON") CHECK(peak.fma);
      if (target == "SSE4" || target == "SSSE3" || target == "SCALAR") CHECK_FALSE(peak.fma);
    }
  }
  CHECK_THROWS_AS(measure_arithmetic_peak<float>(0), UsageError);
}

TEST_CASE("every kind of memory access works on every target and size") {
  const Unforced restore;
  for (const std::string& target : available_targets()) {
    CAPTURE(target);
    force_target(target);
    for (const auto& [bytes, threads] : {std::pair{std::size_t{1}, 1}, {std::size_t{10000}, 2}, {std::size_t{5} << 20, 1}}) {
      MemoryBandwidth memory(bytes, threads);
      const auto step = 4096 * static_cast<std::size_t>(threads);
      CHECK(memory.bytes() % step == 0);
      CHECK(memory.bytes() + step / 2 >= bytes);
      CHECK(memory.bytes() <= bytes + step);
      for (const auto operation :
           {MemoryOperation::read, MemoryOperation::write, MemoryOperation::streaming_write, MemoryOperation::copy}) {
        CAPTURE(name_of(operation));
        const double gbps = memory.measure_gbps(operation, brief);
        CHECK(std::isfinite(gbps));
        CHECK(gbps > 0);
      }
    }
  }
  CHECK_THROWS_AS(MemoryBandwidth(0, 1), UsageError);
  CHECK_THROWS_AS(MemoryBandwidth(4096, 0), UsageError);
}

TEST_CASE("first touch is a time per 4 KiB and the rate that follows from it") {
  for (const PageSize pages : {PageSize::small, PageSize::huge}) {
    const FirstTouchCost cost = measure_first_touch(mapped_allocation_bytes, pages, 2);
    CHECK(cost.ns_per_4k > 0);
    CHECK(cost.gbps * cost.ns_per_4k == Approx(4096));
  }
  CHECK_THROWS_AS(measure_first_touch(4096, PageSize::small, 1), UsageError);
  CHECK_THROWS_AS(measure_first_touch(mapped_allocation_bytes, PageSize::small, 0), UsageError);
}

TEST_CASE("bandwidth is measured on four times the last cache, within reason") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  constexpr std::uint64_t plenty = std::uint64_t{1} << 50;
  CHECK(bandwidth_working_set({{"Data", 1, 32768, 1}, {"Unified", 3, 32 * mebibyte, 8}}, plenty) == 128 * mebibyte);
  CHECK(bandwidth_working_set({{"Unified", 3, 260 * mebibyte, 64}}, plenty) == 512 * mebibyte);
  CHECK(bandwidth_working_set({{"Unified", 2, mebibyte, 1}}, plenty) == 64 * mebibyte);
  CHECK(bandwidth_working_set({}, plenty) == 64 * mebibyte);
  CHECK(bandwidth_working_set({{"Unified", 3, 32 * mebibyte, 8}}, 400 * mebibyte) == 128 * mebibyte);
  CHECK(bandwidth_working_set({{"Unified", 3, 32 * mebibyte, 8}}, 100 * mebibyte) == 50 * mebibyte);
  CHECK(bandwidth_working_set({}, 0) == 8 * mebibyte);
}

TEST_CASE("all ceilings at once") {
  const Ceilings ceilings = measure_ceilings(2);
  CHECK(ceilings.threads == 2);
  CHECK(ceilings.f32_one_thread.threads == 1);
  CHECK(ceilings.f64_all_threads.threads == 2);
  CHECK(ceilings.f64_all_threads.isa == active_target());
  for (const double rate :
       {ceilings.f32_one_thread.gflops, ceilings.f64_one_thread.gflops, ceilings.f32_all_threads.gflops, ceilings.f64_all_threads.gflops,
        ceilings.read_gbps, ceilings.write_gbps, ceilings.streaming_write_gbps, ceilings.copy_gbps, ceilings.small_pages_one_thread.gbps,
        ceilings.huge_pages_one_thread.gbps, ceilings.small_pages_all_threads.gbps, ceilings.huge_pages_all_threads.gbps}) {
    CHECK(std::isfinite(rate));
    CHECK(rate > 0);
  }
  CHECK(measure_read_gbps(65536, 1) > 0);
}
