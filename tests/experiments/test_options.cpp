#include "catch.h"
#include "machine/error.h"
#include "options/nearest_name.h"
#include "options/number_list.h"

using namespace attn;

using Sizes = std::vector<Index>;

TEST_CASE("lists and ranges of sizes") {
  CHECK(parse_sizes("--n", "4,16,64") == Sizes{4, 16, 64});
  CHECK(parse_sizes("--n", "512..4096") == Sizes{512, 1024, 2048, 4096});
  CHECK(parse_sizes("--n", "512..4095") == Sizes{512, 1024, 2048});
  CHECK(parse_sizes("--n", "1..1000x10") == Sizes{1, 10, 100, 1000});
  CHECK(parse_sizes("--n", "10..50+20") == Sizes{10, 30, 50});
  CHECK(parse_sizes("--n", "10..49+20") == Sizes{10, 30});
  CHECK(parse_sizes("--n", "1,8..32,100") == Sizes{1, 8, 16, 32, 100});
  CHECK(parse_sizes("--n", "4k,1M") == Sizes{4096, 1048576});
  CHECK(parse_sizes("--n", "7..7") == Sizes{7});
  // A range that would leave 63 bits ends before.
  CHECK(parse_sizes("--n", "4611686018427387904..9223372036854775807").size() == 1);
}

TEST_CASE("what is no list of sizes is refused, and the option is named") {
  for (const char* text : {"",
                           "0",
                           "4,,16",
                           ",4",
                           "4,",
                           "4096..512",
                           "512..",
                           "..512",
                           "..",
                           "12abc",
                           "-3",
                           "+3",
                           " 4",
                           "4 ",
                           "1e3",
                           "4.0",
                           "0x10",
                           "1..9x1",
                           "1..9x0",
                           "1..9+0",
                           "1..9x",
                           "1..9+",
                           "1..9x2x2",
                           "0..8",
                           "k",
                           "9223372036854775808",
                           "9007199254740993M",
                           "1..9223372036854775807+1",
                           "1...5",
                           "\xff"}) {
    INFO("'" << text << "'");
    CHECK_THROWS_AS(parse_sizes("--n", text), UsageError);
    try {
      parse_sizes("--n", text);
    } catch (const UsageError& error) {
      CHECK(std::string(error.what()).starts_with("--n: expected "));
    }
  }
}

TEST_CASE("numbers are parsed whole, and overflow is an error") {
  CHECK(parse_number("--scale", "0.37") == 0.37);
  CHECK(parse_number("--scale", "-1e-3") == -1e-3);
  for (const char* text : {"", "1e400", "-1e400", "nan", "inf", "1.5x", "1,5", " 1", "0x1p3", "--1"}) {
    INFO("'" << text << "'");
    CHECK_THROWS_AS(parse_number("--scale", text), UsageError);
  }
  CHECK(parse_size("--offset", "0", 0) == 0);
}

TEST_CASE("the nearest name is found for a slip, and none for something else") {
  const std::vector<std::string> names = {"--trials", "--seed", "--seq", "--d-k", "--format"};
  CHECK(nearest_name("--trails", names) == "--trials");
  CHECK(nearest_name("--sed", names) == "--seed");
  CHECK(nearest_name("--form", names) == "--format");
  CHECK(nearest_name("--sed", {"--seq", "--seed"}) == "--seed");
  CHECK(nearest_name("--completely-else", names).empty());
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("", "abc") == 3);
}
