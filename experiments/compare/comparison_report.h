// The comparison as a report: one row per row, then their summary.
#pragma once

#include <vector>

#include "compare/hosts.h"
#include "compare/side.h"
#include "compare/table_comparison.h"
#include "report/report.h"

namespace attn {

struct ComparedSides {
  Side old_side;
  Side new_side;
  std::vector<HostDifference> differences;  // allowed, and labelled
  double regression_percent = 5;
  bool allow_different_host = false;
};

// Fails where there is a regression.
Report comparison_report(const ComparedSides& sides, const TableComparison& table);

}  // namespace attn
