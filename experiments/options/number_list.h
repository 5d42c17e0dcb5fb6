// Numbers, lists and ranges as people write them on the command line.
//
//   4,16,64      these three
//   512..4096    doubling: 512 1024 2048 4096
//   1..1000x10   geometric: 1 10 100 1000
//   10..50+20    arithmetic: 10 30 50
//   4k           4096 (k = 1024, M = 1024 * 1024)
//
// The end point of a range belongs to it when it is hit. Pieces may be mixed: 1,8..32,100.
#pragma once

#include <string_view>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

// A whole number of at least `least`. Throws UsageError, naming `option`, for anything else: signs, fractions, trailing characters,
// or a number that does not fit into 63 bits.
Index parse_size(std::string_view option, std::string_view text, Index least = 1);

// A list of sizes, each at least 1. Throws UsageError, naming `option`, for an empty piece and for an empty, reversed or endless range.
std::vector<Index> parse_sizes(std::string_view option, std::string_view text);

// A finite decimal number. Throws UsageError, naming `option`, for anything else, 1e400 included.
double parse_number(std::string_view option, std::string_view text);

}  // namespace attn
