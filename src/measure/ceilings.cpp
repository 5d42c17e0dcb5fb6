#include "measure/ceilings.h"

#include <algorithm>
#include <limits>

#include "machine/error.h"
#include "machine/memory_limit.h"
#include "measure/clock.h"
#include "measure/memory_bandwidth.h"

namespace attn {
namespace {

constexpr std::size_t touched_page_bytes = 4096;
constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t smallest_working_set = 8 * mebibyte;  // less says nothing of memory anywhere

// Writes one byte to each 4 KiB with all threads; seconds.
double touch_s(volatile unsigned char* memory, std::ptrdiff_t pages, int threads) {
  const std::int64_t start = steady_now_ns();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::ptrdiff_t page = 0; page < pages; ++page) memory[page * static_cast<std::ptrdiff_t>(touched_page_bytes)] = 1;
  return 1e-9 * static_cast<double>(steady_now_ns() - start);
}

std::uint64_t last_cache_bytes(const std::vector<CacheFacts>& caches) {
  std::uint64_t largest = 0;
  for (const CacheFacts& cache : caches) largest = std::max(largest, cache.size_bytes);
  return largest;
}

}  // namespace

FirstTouchCost measure_first_touch(std::size_t bytes, PageSize pages, int threads) {
  if (threads < 1 || bytes < mapped_allocation_bytes) {
    throw UsageError("first touch: expected at least one thread and " + std::to_string(mapped_allocation_bytes) + " bytes");
  }
  constexpr int tries = 4;
  const std::size_t count = bytes / touched_page_bytes;
  double shortest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    const Allocation memory = allocate(bytes, pages);
    shortest_s = std::min(shortest_s, touch_s(static_cast<unsigned char*>(memory.get()), static_cast<std::ptrdiff_t>(count), threads));
  }
  const double page_s = shortest_s / static_cast<double>(count);
  return {1e9 * page_s, 1e-9 * static_cast<double>(touched_page_bytes) / page_s};
}

double measure_read_gbps(std::size_t bytes, int threads) { return MemoryBandwidth(bytes, threads).measure_gbps(MemoryOperation::read); }

std::size_t bandwidth_working_set(const std::vector<CacheFacts>& caches, std::uint64_t free_bytes) {
  const std::uint64_t wanted = std::clamp<std::uint64_t>(4 * last_cache_bytes(caches), 64 * mebibyte, 512 * mebibyte);
  return std::max<std::uint64_t>(std::min(wanted, free_bytes / 2), smallest_working_set);
}

namespace {

void add_bandwidths(Ceilings& ceilings) {
  MachineFacts machine;
  add_cpu_facts(machine);
  const std::uint64_t last_cache = last_cache_bytes(machine.caches);
  MemoryBandwidth memory(bandwidth_working_set(machine.caches, available_memory().free_bytes), ceilings.threads);
  ceilings.bandwidth_bytes = memory.bytes();
  ceilings.beyond_caches = last_cache > 0 && memory.bytes() >= 4 * last_cache;
  ceilings.read_gbps = memory.measure_gbps(MemoryOperation::read);
  ceilings.write_gbps = memory.measure_gbps(MemoryOperation::write);
  ceilings.streaming_write_gbps = memory.measure_gbps(MemoryOperation::streaming_write);
  ceilings.copy_gbps = memory.measure_gbps(MemoryOperation::copy);
}

}  // namespace

Ceilings measure_ceilings(int threads) {
  Ceilings ceilings;
  ceilings.threads = threads;
  ceilings.f32_one_thread = measure_arithmetic_peak<float>(1);
  ceilings.f64_one_thread = measure_arithmetic_peak<double>(1);
  ceilings.f32_all_threads = measure_arithmetic_peak<float>(threads);
  ceilings.f64_all_threads = measure_arithmetic_peak<double>(threads);
  add_bandwidths(ceilings);
  const std::size_t touched_bytes = std::clamp<std::uint64_t>(available_memory().free_bytes / 2, smallest_working_set, 32 * mebibyte);
  ceilings.small_pages_one_thread = measure_first_touch(touched_bytes, PageSize::small, 1);
  ceilings.huge_pages_one_thread = measure_first_touch(touched_bytes, PageSize::huge, 1);
  ceilings.small_pages_all_threads = measure_first_touch(touched_bytes, PageSize::small, threads);
  ceilings.huge_pages_all_threads = measure_first_touch(touched_bytes, PageSize::huge, threads);
  return ceilings;
}

}  // namespace attn
