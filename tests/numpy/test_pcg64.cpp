// PCG64 against NumPy's states and words; jumps against steps.
#include "numpy/pcg64.h"

#include "catch.h"
#include "machine/error.h"
#include "numpy/vectors.h"

using namespace attn;

TEST_CASE("PCG64 has NumPy's states and words") {
  for (const nlohmann::json& stream : numpy_streams()) {
    Pcg64 bits(seed_of(stream));
    CHECK(to_string(bits.state()) == stream.at("pcg64_state").get<std::string>());
    CHECK(to_string(bits.increment()) == stream.at("pcg64_inc").get<std::string>());
    for (const std::uint64_t word : words(stream.at("raw_u64"))) CHECK(bits.next() == word);
  }
}

TEST_CASE("advancing equals stepping, forwards and backwards") {
  const Pcg64 start(Seed(42));
  Pcg64 stepped = start;
  for (std::uint64_t n = 0; n < 300; ++n) {
    Pcg64 advanced = start;
    advanced.advance(n);
    CHECK(advanced == stepped);
    advanced.advance(-uint128{n});
    CHECK(advanced == start);
    stepped.next();
  }
}

TEST_CASE("long strides add up modulo 2^128") {
  const uint128 far = make_uint128(0x0123456789abcdef, 0xfedcba9876543210);
  Pcg64 at_once(Seed(1));
  Pcg64 in_parts = at_once;
  at_once.advance(far);
  in_parts.advance(far - 12345);
  in_parts.advance(12345);
  CHECK(at_once == in_parts);
  at_once.advance(-far);
  CHECK(at_once == Pcg64(Seed(1)));
}

TEST_CASE("128-bit integers are read and written in decimal") {
  CHECK(to_string(0) == "0");
  CHECK(to_string(~uint128{0}) == "340282366920938463463374607431768211455");
  CHECK(parse_uint128("340282366920938463463374607431768211455", "position") == ~uint128{0});
  for (const char* text : {"", "-1", "1x", "340282366920938463463374607431768211456", "3402823669209384634633746074317682114550"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_uint128(text, "position"), UsageError);
  }
}
