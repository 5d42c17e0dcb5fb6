// What every reader owes for any bytes: a tensor, or an error of the library that says what is wrong in one line; and no more memory than
// the bytes justify.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "machine/allocation.h"
#include "machine/error.h"

namespace attn {

// Calls read(bytes); ends the program where more than `largest_ratio` times the bytes (and some room for small ones) were allocated.
// Other exceptions than the library's escape, which libFuzzer reports.
template <class Read>
int read_or_refuse(const std::uint8_t* data, std::size_t size, std::size_t largest_ratio, Read&& read) {
  reset_allocation_high_water();
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  if (allocation_high_water_bytes() > largest_ratio * size + 4096) std::abort();
  return 0;
}

}  // namespace attn
