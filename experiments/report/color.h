// Colour in a terminal: of verdicts, and of whatever has a style of its own.
#pragma once

#include <string>
#include <string_view>

#include "report/text.h"

namespace attn {

// The same text with the words PASS and FASTER in green, FAIL, SLOWER, failed and error in red, UNSURE, MARGINAL and skipped in yellow.
std::string colored(std::string_view text);

// The characters of a line: spans with a style in that style, all others as colored() has them.
std::string colored(const Line& line);

// Whether to colour, by --color auto|always|never: auto does where stdout is a terminal and NO_COLOR is not set (https://no-color.org).
// Throws UsageError for another word.
bool wants_color(std::string_view choice);

// Whether to use 24-bit colours: the same, and auto only where COLORTERM says that the terminal has them ("truecolor" or "24bit").
bool wants_true_color(std::string_view choice);

}  // namespace attn
