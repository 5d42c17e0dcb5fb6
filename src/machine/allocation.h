// Memory for matrices: aligned for vectors, on huge pages where large, and counted.
#pragma once

#include <cstddef>
#include <memory>

namespace attn {

// Every allocation starts on a cache line: 64 bytes on all machines that matter here, and the width of the widest vector.
inline constexpr std::size_t cache_line_bytes = 64;

// Gives memory back in the way it was taken.
struct AllocationDeleter {
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept;
};

using Allocation = std::unique_ptr<void, AllocationDeleter>;

// `bytes` of uninitialised memory, aligned to cache_line_bytes; empty for 0 bytes.
// Throws MemoryError where the system refuses.
Allocation allocate(std::size_t bytes);

}  // namespace attn
