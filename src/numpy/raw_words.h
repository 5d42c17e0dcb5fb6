// The raw words of PCG64, many at a time.
//
// L copies of the generator run side by side, one step apart, and each makes L steps at once:
//
//   state[lane] := state[lane] * multiplier^L + increment * (1 + multiplier + ... + multiplier^(L-1))  (mod 2^128)
//
// so that no step waits for the one before it. Where vectors have eight 64-bit lanes, three quarters of the states lie in vectors, whose
// 128-bit product is put together from 32 x 32 bits, and the rest in scalar registers, since the scalar multiplier would be idle else;
// narrower vectors are no faster than that multiplier, and it does all.
#pragma once

#include <array>
#include <cstdint>

#include "matrix/matrix.h"
#include "numpy/pcg64.h"

namespace attn {

class RawWords {
 public:
  // Three vectors of eight, and eight scalars: a step of either takes about as long.
  static constexpr Index lanes = 32;

  // Begins with what bits.next() would give.
  explicit RawWords(const Pcg64& bits);

  // Writes the stream's next `words`, a multiple of `lanes`, to `out`, which is 64-byte aligned.
  void generate(std::uint64_t* out, Index words);

 private:
  // States whose outputs come next: low[i], high[i] are the halves of lane i's.
  alignas(cache_line_bytes) std::array<std::uint64_t, lanes> low_;
  alignas(cache_line_bytes) std::array<std::uint64_t, lanes> high_;
  Pcg64Stride stride_;
};

}  // namespace attn
