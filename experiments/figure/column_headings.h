// The labels above a picture's columns, which are often wider than the columns.
#pragma once

#include <string>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

// Where the columns stand: each `cell` wide, which is at least the widest letter's width, the first beginning at `left`; nothing may stand
// at or beyond `width`.
struct ColumnPlaces {
  Index left = 0, cell = 1, width = 80;

  Index middle(std::size_t column) const { return left + static_cast<Index>(column) * cell + (cell - 1) / 2; }
};

// Lines of text in which every label stands over its column: side by side where that fits, else on two levels by turns, with a stroke
// from the upper ones down, else letter below letter, shortened to `tallest`.
std::vector<std::u32string> column_headings(const std::vector<std::u32string>& labels, const ColumnPlaces& places, bool utf8);

}  // namespace attn
