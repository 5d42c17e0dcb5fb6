#include "machine/allocation.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "machine/error.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"

namespace attn {
namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> high_water_bytes{0};

void raise_high_water(std::size_t bytes) {
  std::size_t seen = high_water_bytes;
  while (bytes > seen && !high_water_bytes.compare_exchange_weak(seen, bytes)) {
  }
}

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A mapping aligned to huge_page_bytes: one huge page too many is mapped, and what lies before and behind is given back.
void* map_aligned(std::size_t bytes, PageSize pages) {
  const std::size_t mapped = bytes + huge_page_bytes;
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(mapping);
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(begin), huge_page_bytes) - reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, huge_page_bytes - before);
#if defined(MADV_HUGEPAGE)
  // Advice only: where the kernel knows no huge pages, small ones serve.
  madvise(begin + before, bytes, pages == PageSize::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
  return begin + before;
}

// What an allocation really takes: whole huge pages or whole cache lines. 0 where the sum overflows.
std::size_t taken_bytes(std::size_t bytes) {
  const std::size_t taken = round_up(bytes, bytes >= mapped_allocation_bytes ? huge_page_bytes : cache_line_bytes);
  return taken > SIZE_MAX - huge_page_bytes || taken < bytes ? 0 : taken;
}

}  // namespace

void AllocationDeleter::operator()(void* memory) const noexcept {
  live_bytes -= bytes;
  if (bytes >= mapped_allocation_bytes) {
    munmap(memory, taken_bytes(bytes));
  } else {
    std::free(memory);
  }
}

Allocation allocate(std::size_t bytes, PageSize pages) {
  if (bytes == 0) return Allocation(nullptr, AllocationDeleter{0});
  const std::size_t taken = taken_bytes(bytes);
  void* memory = nullptr;
  if (taken != 0) memory = bytes >= mapped_allocation_bytes ? map_aligned(taken, pages) : std::aligned_alloc(cache_line_bytes, taken);
  if (memory == nullptr) throw MemoryError("memory: allocate: the system refused " + format_bytes(bytes));
  raise_high_water(live_bytes += bytes);
  return Allocation(memory, AllocationDeleter{bytes});
}

void first_touch(void* memory, std::size_t bytes) {
  constexpr std::size_t small_page_bytes = 4096;
  auto* begin = static_cast<volatile unsigned char*>(memory);
  const auto chunks = static_cast<std::int64_t>((bytes + huge_page_bytes - 1) / huge_page_bytes);
#pragma omp parallel for schedule(static) num_threads(threads()) if (chunks > 1)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t first = static_cast<std::size_t>(chunk) * huge_page_bytes;
    const std::size_t last = bytes - first < huge_page_bytes ? bytes : first + huge_page_bytes;
    for (std::size_t at = first; at < last; at += small_page_bytes) begin[at] = 0;
  }
}

std::size_t allocated_bytes() { return live_bytes; }
std::size_t allocation_high_water_bytes() { return high_water_bytes; }
void reset_allocation_high_water() { high_water_bytes = live_bytes.load(); }

}  // namespace attn
