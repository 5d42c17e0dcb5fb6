// Memory for packed blocks, kept from call to call: fresh memory would have to be faulted in page by page every time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "machine/allocation.h"
#include "matrix/matrix.h"

namespace attn {

// At least `elements` of the calling thread's own memory, 64-byte aligned, valid until its next call. Its size is bounded by the blocks of
// gemm (some 12 MiB, or a micro-panel for each thread). From a quarter of a MiB on it lies on huge pages, since packed blocks are read all
// over.
template <class T>
T* workspace(Index elements) {
  thread_local Allocation memory;
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(T);
  if (memory.get_deleter().bytes < bytes) {
    memory = Allocation(nullptr, AllocationDeleter{0});
    memory = allocate(bytes < (std::size_t{256} << 10) ? bytes : std::max(bytes, mapped_allocation_bytes));
  }
  return static_cast<T*>(memory.get());
}

}  // namespace attn
