// Seeds are read whole, and SeedSequence gives NumPy's words.
#include "numpy/seed_sequence.h"

#include <string>

#include "catch.h"
#include "machine/error.h"
#include "numpy/vectors.h"

using namespace attn;

TEST_CASE("SeedSequence generates NumPy's words for every seed of the vectors") {
  REQUIRE(numpy_streams().size() == 20);
  for (const nlohmann::json& stream : numpy_streams()) {
    const SeedSequence sequence(seed_of(stream));
    CHECK(sequence.generate_state_u64(4) == words(stream.at("seed_sequence_state_u64x4")));
  }
}

TEST_CASE("a 64-bit state is two words of 32 bits, lowest first") {
  const SeedSequence sequence(Seed(7));
  const std::vector<std::uint32_t> halves = sequence.generate_state_u32(6);
  const std::vector<std::uint64_t> whole = sequence.generate_state_u64(3);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(whole[i] == (std::uint64_t{halves[2 * i + 1]} << 32 | halves[2 * i]));
  CHECK(sequence.generate_state_u32(5).size() == 5);
}

TEST_CASE("a seed is an integer of any length and keeps its text") {
  CHECK(Seed::parse("0").words() == std::vector<std::uint32_t>{0});
  CHECK(Seed::parse("0042") == Seed(42));
  CHECK(Seed::parse("000").text() == "0");
  CHECK(Seed(~std::uint64_t{0}).text() == "18446744073709551615");
  CHECK(Seed::parse("18446744073709551615").words() == Seed(~std::uint64_t{0}).words());
  // 2^160 + 3
  CHECK(Seed::parse("1461501637330902918203684832716283019655932542979").words() == std::vector<std::uint32_t>{3, 0, 0, 0, 0, 1});
  const std::string long_text = "1" + std::string(5000, '0');
  CHECK(Seed::parse(long_text).text() == long_text);
  // 10^5000 has 16610 bits.
  CHECK(Seed::parse(long_text).words().size() == 520);
  CHECK(Seed::list({1, 2, 3}).text() == "[1, 2, 3]");
}

TEST_CASE("what is no non-negative integer is no seed") {
  for (const char* text : {"", "-1", "+1", "12abc", " 1", "1 ", "1.0", "1e3", "0x10", "-", "1,2", "[1]", "nan"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Seed::parse(text), UsageError);
  }
}
