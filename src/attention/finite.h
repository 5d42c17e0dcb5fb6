// Whether numbers are finite, fast enough to ask of whole tensors.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "matrix/matrix.h"

namespace attn {

// Whether any of the `count` numbers is NaN or infinite: whether any has all bits of its exponent set. No early end, so that compilers
// make vectors of it.
template <class T>
bool any_non_finite(const T* numbers, Index count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits exponent = sizeof(T) == 4 ? Bits{0x7f800000U} : static_cast<Bits>(0x7ff0000000000000ULL);
  Bits found = 0;
  for (Index i = 0; i < count; ++i) found |= static_cast<Bits>((std::bit_cast<Bits>(numbers[i]) & exponent) == exponent);
  return found != 0;
}

}  // namespace attn
