// How a sweep of rows meets what surrounds it: who is told before and after each row, and what need not be computed again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/report.h"

namespace attn {

struct RowHooks {
  std::function<void(const std::string& now, double done, double total)> next;  // before a row: what comes, how much of all work is done
  std::function<void(const Block& block)> finished;                             // after a row: the block with all rows so far
  std::vector<Json> earlier;                                                    // finished rows of the run that is resumed
};

}  // namespace attn
