#include "machine/allocation.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "catch.h"
#include "machine/error.h"
#include "machine/threads.h"

using namespace attn;

TEST_CASE("small and large allocations are aligned and writable to the last byte") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{4097}, mapped_allocation_bytes - 1, mapped_allocation_bytes,
                                  mapped_allocation_bytes + 1, 5 * huge_page_bytes + 12345}) {
    for (const PageSize pages : {PageSize::huge, PageSize::small}) {
      const Allocation memory = allocate(bytes, pages);
      const std::size_t alignment = bytes >= mapped_allocation_bytes ? huge_page_bytes : cache_line_bytes;
      CHECK(reinterpret_cast<std::uintptr_t>(memory.get()) % alignment == 0);
      std::memset(memory.get(), 0x5a, bytes);
      CHECK(static_cast<unsigned char*>(memory.get())[bytes - 1] == 0x5a);
    }
  }
}

TEST_CASE("allocations are counted, and their high-water mark can be reset") {
  const std::size_t before = allocated_bytes();
  reset_allocation_high_water();
  CHECK(allocation_high_water_bytes() == before);
  {
    const Allocation large = allocate(10 << 20);
    const Allocation small = allocate(1000);
    CHECK(allocated_bytes() == before + (10 << 20) + 1000);
  }
  CHECK(allocated_bytes() == before);
  CHECK(allocation_high_water_bytes() == before + (10 << 20) + 1000);
  reset_allocation_high_water();
  CHECK(allocation_high_water_bytes() == before);
}

TEST_CASE("counting holds when several threads allocate") {
  const std::size_t before = allocated_bytes();
  reset_allocation_high_water();
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([] {
      for (std::size_t bytes = 1; bytes < 2000; ++bytes) allocate(bytes);
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(allocated_bytes() == before);
  CHECK(allocation_high_water_bytes() >= before + 1999);
  CHECK(allocation_high_water_bytes() <= before + 4 * 1999);
}

TEST_CASE("nothing for zero bytes, an error for too many") {
  CHECK(allocate(0) == nullptr);
  CHECK_THROWS_AS(allocate(std::numeric_limits<std::size_t>::max()), MemoryError);
  CHECK_THROWS_AS(allocate(std::numeric_limits<std::size_t>::max() - huge_page_bytes), MemoryError);
  CHECK_THROWS_AS(allocate(std::size_t{1} << 60), MemoryError);
}

TEST_CASE("first touch keeps inside the memory, for any size and number of threads") {
  const int before = threads();
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, huge_page_bytes, 3 * huge_page_bytes + 5}) {
      std::vector<unsigned char> memory(bytes + 4096, 0x77);
      first_touch(memory.data(), bytes);
      for (std::size_t at = 0; at < bytes; at += 4096) REQUIRE(memory[at] == 0);
      for (std::size_t at = bytes; at < memory.size(); ++at) REQUIRE(memory[at] == 0x77);
    }
  }
  set_threads(before);
}
