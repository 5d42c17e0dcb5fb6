// `attn reproduce`: every block of both documents, and the check against what they print.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/report.h"

namespace attn {

// All blocks, document 1's before document 2's, each in the order of its document; with RoundedCells where `margins`.
std::vector<Block> reproduce_blocks(bool margins, Status& status);

// How far the digits of a block are from turning out otherwise: the smallest distance of a rounded cell's value from the next rounding
// boundary, as a multiple of the value's own rounding error (its distance from the same computation in long double).
struct Margin {
  double multiple = 0;  // infinite where no cell has a rounding error
  std::string cell;     // which cell it is; empty where the block rounds nothing
};

Margin smallest_margin(const Block& block);

// A document's file by name ("1-example.txt"). Throws FileError where there is none.
using DocumentFiles = std::function<std::string(const std::string& name)>;

// What a document's file says against a block: empty where they agree, else the first differing line of both, or that the file differs
// from its checksum (the copies of measured cells cannot be checked otherwise).
std::string disagreement(const Block& block, const DocumentFiles& files);

}  // namespace attn
