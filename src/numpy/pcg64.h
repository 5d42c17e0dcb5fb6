// PCG64 as NumPy has it: a 128-bit linear congruential generator with the XSL-RR output function.
//
//   state := state * multiplier + increment (mod 2^128);   output = rotate_right(high(state) ^ low(state), state >> 122)
//
// Source: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation"
// (2014). The jump is F. Brown's, "Random Number Generation with Arbitrary Strides" (1994).
#pragma once

#include <bit>
#include <cstdint>

#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"

namespace attn {

class Pcg64 {
 public:
  static constexpr uint128 multiplier = make_uint128(0x2360ED051FC65DA4, 0x4385DF649FCCF645);

  // As np.random.PCG64(seed).
  explicit Pcg64(const Seed& seed);

  // From a state and an (odd) increment, as np.random.PCG64().state shows them.
  Pcg64(uint128 state, uint128 increment) : state_(state), increment_(increment) {}

  // The next 64 bits.
  std::uint64_t next() {
    state_ = state_ * multiplier + increment_;
    return output(state_);
  }

  // As if next() had been called `delta` times; modulo 2^128, so that -n goes back n.
  void advance(uint128 delta);

  // As PCG64.jumped(jumps): advances by jumps * floor(2^128 / golden ratio), so that streams do not meet.
  void jump(uint128 jumps = 1);

  uint128 state() const { return state_; }
  uint128 increment() const { return increment_; }

  static constexpr std::uint64_t output(uint128 state) {
    return std::rotr(static_cast<std::uint64_t>(state >> 64) ^ static_cast<std::uint64_t>(state), static_cast<int>(state >> 122));
  }

  friend bool operator==(const Pcg64&, const Pcg64&) = default;

 private:
  uint128 state_;
  uint128 increment_;
};

// Many steps of the generator at once: state := state * factor + offset.
struct Pcg64Stride {
  uint128 factor;
  uint128 offset;
};

// The stride of `steps` steps, in as many rounds as `steps` has bits.
constexpr Pcg64Stride pcg64_stride(uint128 increment, uint128 steps) {
  Pcg64Stride total{1, 0};
  // `power` is 2^k steps; it squares by being applied to itself.
  for (Pcg64Stride power{Pcg64::multiplier, increment}; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) total = {total.factor * power.factor, total.offset * power.factor + power.offset};
    power = {power.factor * power.factor, power.offset * (power.factor + 1)};
  }
  return total;
}

}  // namespace attn
