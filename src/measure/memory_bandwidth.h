// How fast the cores can read and write memory of a given size: the ceiling of everything that computes little on much data.
//
// Every thread works on a part of its own, side by side in one buffer. Rates count the bytes that the program names: a plain store that
// first fetches its line counts once, a copy counts its bytes read and its bytes written.
#pragma once

#include <cstddef>
#include <string_view>

#include "machine/allocation.h"
#include "measure/bursts.h"

namespace attn {

enum class MemoryOperation {
  read,
  write,            // plain stores
  streaming_write,  // stores past the caches
  copy,             // read and streaming write
};

// "read", "write", "streaming write", "copy"
std::string_view name_of(MemoryOperation operation);

class MemoryBandwidth {
 public:
  // A working set of about `bytes`, each thread's part a multiple of 4 KiB, touched by the thread that will use it.
  // Throws UsageError unless threads >= 1 and bytes > 0, MemoryError where the system refuses.
  MemoryBandwidth(std::size_t bytes, int threads);

  // GB/s, the best of several bursts, each at least one pass over the working set. Reads are tried as one, two and four streams per
  // thread, because hardware prefetchers and banks treat them differently and kernels have several.
  double measure_gbps(MemoryOperation operation, const BurstOptions& options = {.warm_up_s = 0.005, .burst_s = 0.004, .bursts = 4});

  std::size_t bytes() const { return part_bytes_ * static_cast<std::size_t>(threads_); }

 private:
  double best_gbps(int streams, MemoryOperation operation, const BurstOptions& options);

  int threads_;
  std::size_t part_bytes_;
  Allocation memory_;
};

}  // namespace attn
