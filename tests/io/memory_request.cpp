#include "io/memory_request.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> largest = 0;
}

void* operator new(std::size_t bytes, const std::nothrow_t& /*no_throw*/) noexcept {
  largest = std::max<std::size_t>(largest, bytes);
  return std::malloc(std::max<std::size_t>(bytes, 1));
}

void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace attn {

std::size_t largest_request() { return largest; }
void largest_request_reset() { largest = 0; }

}  // namespace attn
