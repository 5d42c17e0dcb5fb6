// 128-bit unsigned integers: states of PCG64, and positions in its stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

__extension__ using uint128 = unsigned __int128;

constexpr uint128 make_uint128(std::uint64_t high, std::uint64_t low) { return uint128{high} << 64 | low; }

// In decimal.
std::string to_string(uint128 value);

// `text` is a decimal integer below 2^128, digits only. Throws UsageError, which names it as `what`, for anything else.
uint128 parse_uint128(std::string_view text, std::string_view what);

}  // namespace attn
