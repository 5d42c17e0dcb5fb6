// The comparison as a table that fits a terminal: what was compared, a line per row, what came out.
#pragma once

#include "compare/comparison_report.h"

namespace attn {

Text comparison_text(const ComparedSides& sides, const TableComparison& table);

}  // namespace attn
