// NumPy's way from a seed to the state of a generator: numpy.random.SeedSequence.
//
// Source: numpy/random/bit_generator.pyx, after M. E. O'Neill, "Developing a seed_seq Alternative" (2015).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// What a stream is seeded with: a non-negative integer of any length, or a list of such integers.
class Seed {
 public:
  Seed(std::uint64_t value = 0);

  // `text` is a decimal integer of any length, digits only. Throws UsageError for anything else ("", "-1", "12abc", " 1").
  static Seed parse(std::string_view text);

  // A list, as NumPy takes it: default_rng([1, 2, 3]).
  static Seed list(const std::vector<Seed>& seeds);

  // The integer in decimal, without leading zeros; a list as "[1, 2, 3]".
  const std::string& text() const { return text_; }

  // The integer's 32-bit digits, lowest first (0 is one digit); those of a list one after another.
  const std::vector<std::uint32_t>& words() const { return words_; }

  friend bool operator==(const Seed& a, const Seed& b) { return a.text_ == b.text_; }

 private:
  Seed(std::string text, std::vector<std::uint32_t> words) : text_(std::move(text)), words_(std::move(words)) {}

  std::string text_;
  std::vector<std::uint32_t> words_;
};

// Mixes a seed into a pool of four words, and gives as many well-mixed words as a generator's state needs.
class SeedSequence {
 public:
  explicit SeedSequence(const Seed& seed);

  // What generate_state(count, np.uint32) and generate_state(count, np.uint64) return.
  std::vector<std::uint32_t> generate_state_u32(std::size_t count) const;
  std::vector<std::uint64_t> generate_state_u64(std::size_t count) const;

  // SeedSequence.pool
  const std::array<std::uint32_t, 4>& pool() const { return pool_; }

 private:
  std::array<std::uint32_t, 4> pool_{};
};

}  // namespace attn
