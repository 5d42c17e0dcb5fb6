// What this machine can do at most, measured in about a second: the yardstick beside every rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/allocation.h"
#include "measure/arithmetic_peak.h"
#include "measure/machine_facts.h"

namespace attn {

// Getting fresh memory from the system: the page fault and the zeroing, paid at the first write to each page.
struct FirstTouchCost {
  double ns_per_4k = 0;  // per 4 KiB, whatever the pages' size
  double gbps = 0;       // the same as a rate
};

// The best of a few tries over `bytes` of memory, one write to each 4 KiB. Throws MemoryError where the system refuses, UsageError for
// fewer than one thread or less than a mapped allocation (mapped_allocation_bytes).
FirstTouchCost measure_first_touch(std::size_t bytes, PageSize pages, int threads);

// A single answer of MemoryBandwidth: GB/s of reading `bytes` again and again with all of `threads`.
double measure_read_gbps(std::size_t bytes, int threads);

struct Ceilings {
  int threads = 0;  // "all threads" below
  ArithmeticPeak f32_one_thread;
  ArithmeticPeak f64_one_thread;
  ArithmeticPeak f32_all_threads;
  ArithmeticPeak f64_all_threads;

  // With all threads, on a working set of bandwidth_bytes: four times the last cache, or less where that would take too long.
  std::size_t bandwidth_bytes = 0;
  bool beyond_caches = false;  // bandwidth_bytes really is four times the last cache, as far as its size is known
  double read_gbps = 0;
  double write_gbps = 0;
  double streaming_write_gbps = 0;
  double copy_gbps = 0;

  FirstTouchCost small_pages_one_thread;
  FirstTouchCost huge_pages_one_thread;
  FirstTouchCost small_pages_all_threads;
  FirstTouchCost huge_pages_all_threads;
};

// Throws UsageError unless threads >= 1, MemoryError where not even 8 MiB can be had.
Ceilings measure_ceilings(int threads);

// The size for bandwidth_bytes on a machine with these caches: four times the last one, between 64 and 512 MiB, but no more than half of
// the `free_bytes` there are, and at least 8 MiB.
std::size_t bandwidth_working_set(const std::vector<CacheFacts>& caches, std::uint64_t free_bytes);

}  // namespace attn
