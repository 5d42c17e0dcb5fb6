// See seed_sequence.h. All arithmetic is modulo 2^32.
#include "numpy/seed_sequence.h"

#include <algorithm>

#include "machine/error.h"

namespace attn {
namespace {

// The constants of NumPy's two hashes: A fills the pool, B reads it.
constexpr std::uint32_t init_a = 0x43b0d7e5;
constexpr std::uint32_t mult_a = 0x931e8875;
constexpr std::uint32_t init_b = 0x8b51f9dd;
constexpr std::uint32_t mult_b = 0x58f38ded;
constexpr std::uint32_t mix_mult_l = 0xca01f9dd;
constexpr std::uint32_t mix_mult_r = 0x4973f715;
constexpr int xshift = 16;

// Hashes a word; the constant changes with every word, so equal words at different places hash differently.
class HashMix {
 public:
  HashMix(std::uint32_t init, std::uint32_t mult) : constant_(init), mult_(mult) {}

  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant_;
    constant_ *= mult_;
    value *= constant_;
    return value ^ (value >> xshift);
  }

 private:
  std::uint32_t constant_;
  std::uint32_t mult_;
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t result = mix_mult_l * x - mix_mult_r * y;
  return result ^ (result >> xshift);
}

// Nine decimal digits are the most that fit into 32 bits.
constexpr std::size_t chunk_digits = 9;

// words := words * factor + addend
void multiply_add(std::vector<std::uint32_t>& words, std::uint32_t factor, std::uint32_t addend) {
  std::uint64_t carry = addend;
  for (std::uint32_t& word : words) {
    carry += std::uint64_t{word} * factor;
    word = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) words.push_back(static_cast<std::uint32_t>(carry));
}

std::vector<std::uint32_t> words_of_decimal(std::string_view digits) {
  std::vector<std::uint32_t> words;
  while (!digits.empty()) {
    const std::size_t count = (digits.size() - 1) % chunk_digits + 1;
    std::uint32_t value = 0;
    std::uint32_t factor = 1;
    for (const char digit : digits.substr(0, count)) {
      value = value * 10 + static_cast<std::uint32_t>(digit - '0');
      factor *= 10;
    }
    multiply_add(words, factor, value);
    digits.remove_prefix(count);
  }
  if (words.empty()) words.push_back(0);
  return words;
}

}  // namespace

Seed::Seed(std::uint64_t value) : text_(std::to_string(value)), words_{static_cast<std::uint32_t>(value)} {
  if (value >> 32 != 0) words_.push_back(static_cast<std::uint32_t>(value >> 32));
}

Seed Seed::parse(std::string_view text) {
  const bool is_integer = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_integer) throw UsageError("seed: expected a non-negative integer, found '" + std::string(text) + "'");
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  return {std::string(text), words_of_decimal(text)};
}

Seed Seed::list(const std::vector<Seed>& seeds) {
  std::string text = "[";
  std::vector<std::uint32_t> words;
  for (const Seed& seed : seeds) {
    if (text.size() > 1) text += ", ";
    text += seed.text();
    words.insert(words.end(), seed.words().begin(), seed.words().end());
  }
  return {text + "]", std::move(words)};
}

SeedSequence::SeedSequence(const Seed& seed) {
  const std::vector<std::uint32_t>& entropy = seed.words();
  HashMix hash(init_a, mult_a);
  // 1. The first four words, or zeros in their place, fill the pool.
  for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(i < entropy.size() ? entropy[i] : 0);
  // 2. Every word of the pool is mixed into every other.
  for (std::size_t from = 0; from < pool_.size(); ++from) {
    for (std::size_t to = 0; to < pool_.size(); ++to) {
      if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
    }
  }
  // 3. What is left of the seed is mixed into every word.
  for (std::size_t from = pool_.size(); from < entropy.size(); ++from) {
    for (std::uint32_t& word : pool_) word = mix(word, hash(entropy[from]));
  }
}

std::vector<std::uint32_t> SeedSequence::generate_state_u32(std::size_t count) const {
  HashMix hash(init_b, mult_b);
  std::vector<std::uint32_t> state(count);
  for (std::size_t i = 0; i < count; ++i) state[i] = hash(pool_[i % pool_.size()]);
  return state;
}

std::vector<std::uint64_t> SeedSequence::generate_state_u64(std::size_t count) const {
  const std::vector<std::uint32_t> halves = generate_state_u32(2 * count);
  std::vector<std::uint64_t> state(count);
  for (std::size_t i = 0; i < count; ++i) state[i] = halves[2 * i] | std::uint64_t{halves[2 * i + 1]} << 32;
  return state;
}

}  // namespace attn
