#include "machine/allocation.h"

#include <cstdlib>
#include <string>

#include "machine/error.h"

namespace attn {

void AllocationDeleter::operator()(void* memory) const noexcept { std::free(memory); }

Allocation allocate(std::size_t bytes) {
  if (bytes == 0) return Allocation(nullptr, AllocationDeleter{0});
  const std::size_t rounded = (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(cache_line_bytes, rounded);
  if (memory == nullptr) throw MemoryError("memory: allocate: the system refused " + std::to_string(bytes) + " bytes");
  return Allocation(memory, AllocationDeleter{bytes});
}

}  // namespace attn
