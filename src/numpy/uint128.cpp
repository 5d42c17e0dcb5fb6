// See uint128.h.
#include "numpy/uint128.h"

#include <algorithm>

#include "machine/error.h"

namespace attn {

std::string to_string(uint128 value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

uint128 parse_uint128(std::string_view text, std::string_view what) {
  const auto fail = [&]() -> UsageError {
    return UsageError(std::string(what) + ": expected a non-negative integer below 2^128, found '" + std::string(text) + "'");
  };
  if (text.empty()) throw fail();
  uint128 value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') throw fail();
    if (__builtin_mul_overflow(value, uint128{10}, &value)) throw fail();
    if (__builtin_add_overflow(value, static_cast<uint128>(c - '0'), &value)) throw fail();
  }
  return value;
}

}  // namespace attn
