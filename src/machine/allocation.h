// Memory for matrices: aligned for vectors, on huge pages where large, and counted.
#pragma once

#include <cstddef>
#include <memory>

namespace attn {

// Every allocation starts on a cache line: 64 bytes on all machines that matter here, and the width of the widest vector.
inline constexpr std::size_t cache_line_bytes = 64;

// Huge pages of x86-64 and of 64-bit Arm with 4-KiB pages. One of them takes one page fault and one TLB entry where small pages take 512.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

// Allocations from here on are mapped by themselves, aligned to huge_page_bytes, and returned to the system when freed; smaller ones come
// from the C library's heap. Two huge pages: below, rounding up to whole ones would waste more than a quarter.
inline constexpr std::size_t mapped_allocation_bytes = 2 * huge_page_bytes;

// Pages that a mapped allocation asks for. The system may refuse huge ones: /sys/kernel/mm/transparent_hugepage/enabled.
enum class PageSize { huge, small };

// Gives memory back in the way it was taken.
struct AllocationDeleter {
  std::size_t bytes = 0;
  void operator()(void* memory) const noexcept;
};

using Allocation = std::unique_ptr<void, AllocationDeleter>;

// `bytes` of uninitialised memory, aligned to cache_line_bytes; empty for 0 bytes. `pages` matters to mapped allocations only; small ones
// are for experiments. Throws MemoryError where the system refuses.
Allocation allocate(std::size_t bytes, PageSize pages = PageSize::huge);

// Touches every page of fresh memory with all threads, so that the system provides it in parallel and, on machines with several memory
// nodes, spreads it over the threads' nodes. Writes zeros here and there: what the memory held is lost.
void first_touch(void* memory, std::size_t bytes);

// Bytes that live allocations hold: now, and at most since the process began or reset_allocation_high_water() was called.
std::size_t allocated_bytes();
std::size_t allocation_high_water_bytes();
void reset_allocation_high_water();

}  // namespace attn
