// Colour for verdicts in a terminal.
#pragma once

#include <string>
#include <string_view>

namespace attn {

// The same text with the words PASS and FASTER in green, FAIL, SLOWER, failed and error in red, UNSURE, MARGINAL and skipped in yellow.
std::string colored(std::string_view text);

// Whether to colour, by --color auto|always|never: auto does where stdout is a terminal and NO_COLOR is not set (https://no-color.org).
// Throws UsageError for another word.
bool wants_color(std::string_view choice);

}  // namespace attn
