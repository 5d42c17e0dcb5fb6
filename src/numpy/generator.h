// numpy.random.default_rng(seed), bit for bit: every function gives the numbers that NumPy's method of that name gives, in the same
// order, and uses up as much of the stream.
//
// Source: numpy/random/_generator.pyx and numpy/random/src/distributions/distributions.c.
#pragma once

#include <cstdint>
#include <span>

#include "numpy/pcg64.h"

namespace attn {

class Generator {
 public:
  // As np.random.default_rng(seed).
  explicit Generator(const Seed& seed) : bits_(seed) {}
  // As np.random.Generator(bits); position() counts from here.
  explicit Generator(const Pcg64& bits) : bits_(bits) {}

  // Uniform in [0, 1).
  double random();
  // low + (high - low) * random(). Throws UsageError for high < low, or a range that is not finite.
  double uniform(double low, double high);
  double standard_normal();
  // loc + scale * standard_normal(), not contracted. Throws UsageError for a negative scale.
  double normal(double loc, double scale);
  // The stream's next 64 bits.
  std::uint64_t random_raw() { return next(); }

  // The same, out.size() times one after another. The result, and what is drawn afterwards, does not depend on `threads`
  // (0: as many as OpenMP has). Pieces of some MB are filled at nearly the full speed.
  void fill_random(std::span<double> out, int threads = 0);
  void fill_uniform(std::span<double> out, double low, double high, int threads = 0);
  void fill_standard_normal(std::span<double> out, int threads = 0);
  void fill_normal(std::span<double> out, double loc, double scale, int threads = 0);

  // How many 64-bit words have been drawn since seeding (modulo 2^128). Seed and position say where a block of numbers begins:
  // Generator(seed) advanced by it draws that block alone.
  uint128 position() const { return position_; }

  // As if `words` 64-bit words had been drawn.
  void advance(uint128 words);

  const Pcg64& bits() const { return bits_; }

 private:
  std::uint64_t next() {
    ++position_;
    return bits_.next();
  }

  Pcg64 bits_;
  uint128 position_ = 0;
};

inline Generator default_rng(const Seed& seed) { return Generator(seed); }

}  // namespace attn
