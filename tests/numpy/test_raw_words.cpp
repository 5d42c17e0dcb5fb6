// Words made side by side are those made one after another, on every target.
#include "numpy/raw_words.h"

#include <vector>

#include "catch.h"
#include "numpy/unit_doubles.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

// Compares `words` words in two calls.
void check_words(const Pcg64& bits, Index words) {
  Matrix<std::uint64_t> out(1, words);
  RawWords raw(bits);
  const Index part = words / 4 / RawWords::lanes * RawWords::lanes;
  raw.generate(out.data(), part);
  raw.generate(out.data() + part, words - part);
  Pcg64 one_by_one = bits;
  Index wrong = 0;
  for (Index i = 0; i < words; ++i) wrong += out.data()[i] != one_by_one.next();
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("words of any generator") {
  for_each_target([] {
    Pcg64 any(Seed(11));
    for (int i = 0; i < 50; ++i) {
      const uint128 state = make_uint128(any.next(), any.next());
      const uint128 increment = make_uint128(any.next(), any.next()) | 1;
      check_words(Pcg64(state, increment), 20 * RawWords::lanes);
    }
  });
}

TEST_CASE("words where carries run far") {
  const uint128 ones = ~uint128{0};
  const std::vector<uint128> states = {0, 1, ones, ones - 1, make_uint128(0, ~std::uint64_t{0}), make_uint128(~std::uint64_t{0}, 0)};
  for_each_target([&] {
    for (const uint128 state : states) {
      for (const uint128 increment : {uint128{1}, ones, make_uint128(0, ~std::uint64_t{0}), make_uint128(~std::uint64_t{0}, 1)}) {
        check_words(Pcg64(state, increment), 8 * RawWords::lanes);
      }
    }
  });
}

TEST_CASE("unit doubles are the words' upper bits, whatever their number") {
  for_each_target([] {
    for (const std::size_t size : {0, 1, 7, 31, 32, 33, 1023, 1024, 1025, 3000}) {
      std::vector<double> out(size + 1, -1.0);
      fill_unit_doubles(Pcg64(Seed(3)), std::span(out).first(size));
      Pcg64 bits(Seed(3));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < size; ++i) wrong += out[i] != static_cast<double>(bits.next() >> 11) / 0x1p53;
      CHECK(wrong == 0);
      CHECK(out[size] == -1.0);
    }
  });
}
