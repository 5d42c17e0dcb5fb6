// Which rows of the old documents are which rows of the new ones.
#pragma once

#include <vector>

#include "compare/side.h"

namespace attn {

// A row as one run has it.
struct RunOfRow {
  const ComparedFile* file = nullptr;
  const Json* row = nullptr;
};

// A row with all its runs on both sides; without partner one of them is empty.
struct MatchedRow {
  Json parameters;
  std::vector<RunOfRow> old_runs;
  std::vector<RunOfRow> new_runs;
};

// All rows of both sides, in the order of their first appearance, the old side's first. Where a document has the same parameters more than
// once, its first is matched with the other's first, its second with the second, and so on. The sides must outlive the result.
std::vector<MatchedRow> match_rows(const Side& old_side, const Side& new_side);

}  // namespace attn
