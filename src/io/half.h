// The two 16-bit floating-point types: IEEE binary16 (1 sign, 5 exponent, 10 fraction bits) and bfloat16 (1, 8, 7).
//
// Widening to float is exact. Narrowing rounds once, half to even, through subnormals, and overflows to infinity; NaN stays NaN.
// No branches depend on the values in the float paths, so that the compiler vectorises loops over them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attn {

namespace half_detail {

// x rounded to float in a way that a second rounding cannot notice: towards zero, with the last bit set where anything was lost
// ("round to odd"; S. Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd",
// IEEE Transactions on Computers 57(4), 2008). Needs two bits more than the second rounding keeps: 24 of float against 11.
inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  if (std::isnan(x) || static_cast<double>(nearest) == x) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) --bits;  // magnitudes and bit patterns go up together
  return std::bit_cast<float>(bits | 1U);
}

}  // namespace half_detail

struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float x) : bits(narrow(x)) {}
  explicit Float16(double x) : Float16(half_detail::round_to_odd(x)) {}

  static Float16 from_bits(std::uint16_t bits) {
    Float16 result;
    result.bits = bits;
    return result;
  }

  // Shifted into place the bits are x * 2^-112, subnormals included, unless x is infinite or NaN.
  explicit operator float() const {
    const std::uint32_t magnitude = (bits & 0x7FFFU) << 13;
    const std::uint32_t finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
    const std::uint32_t special = magnitude | 0x7F800000U;
    return std::bit_cast<float>((magnitude < (0x7C00U << 13) ? finite : special) | (bits & 0x8000U) << 16);
  }

 private:
  static std::uint16_t narrow(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t magnitude = all & 0x7FFFFFFFU;
    // Normal result: exponent rebased from 127 to 15, 13 bits rounded away. A carry moves into the exponent, from 65520 on to infinity.
    const std::uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
    // Below 2^-14: next to 0.5 the last bit of a float is 2^-24, the unit of binary16's subnormals, so that this addition rounds.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    const std::uint32_t special = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
    const std::uint32_t finite = magnitude < (113U << 23) ? subnormal : normal;
    return static_cast<std::uint16_t>((magnitude < (143U << 23) ? finite : special) | (all >> 16 & 0x8000U));
  }
};

struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float x) : bits(narrow(x)) {}
  explicit BFloat16(double x) : BFloat16(half_detail::round_to_odd(x)) {}

  static BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 result;
    result.bits = bits;
    return result;
  }

  // The upper half of a float's bits.
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

 private:
  static std::uint16_t narrow(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (all + 0x7FFFU + (all >> 16 & 1U)) >> 16;
    const std::uint32_t nan = all >> 16 | 0x40U;
    return static_cast<std::uint16_t>((all & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded);
  }
};

}  // namespace attn
