// Compares output with what it should be: exact cells must be the same, measured cells need only be what they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/text.h"

namespace attn {

// The first place where two texts differ, and how many lines do.
struct TextDifference {
  std::size_t line = 0;  // counted from 1
  std::string expected;  // that line of the expected text; "(no line)" where it has ended
  std::string found;     // that line of the output
  std::string reason;    // empty where characters differ; otherwise which demand a measured cell does not meet
  std::size_t count = 0;
};

// How measured cells are treated.
enum class MeasuredCells {
  pass_over,  // anything may stand there
  check,      // both sides must be in the cell's form and within its limits (see Cell)
};

// Nothing where `expected` agrees with `found`. Lines are compared in order; a final newline does not matter.
std::optional<TextDifference> compare_text(const Text& found, std::string_view expected, MeasuredCells measured);

}  // namespace attn
