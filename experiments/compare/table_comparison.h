// A verdict on every row that both sides have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/match_rows.h"
#include "measure/comparison.h"

namespace attn {

// Whether a hash is the same in all runs of both sides; unknown where any has none.
enum class Agreement { same, different, unknown };

std::string_view name_of(Agreement agreement);

struct ComparedRow {
  MatchedRow row;
  std::optional<RowComparison> comparison;  // none where a side has no times of a row that passed
  std::string reason;                       // why there is none; or which runs were left out
  double old_median_s = 0;                  // the geometric mean over runs of each run's median
  double new_median_s = 0;
  Agreement input = Agreement::unknown;
  Agreement output = Agreement::unknown;
  bool regression = false;  // SLOWER by more than was allowed
};

struct TableComparison {
  std::vector<ComparedRow> rows;
  std::optional<double> geometric_mean;  // of new over old, over the compared rows

  // How many rows have that verdict.
  std::size_t count(Verdict verdict) const;
  std::size_t compared() const;
  std::size_t regressions() const;
};

// Compares times by compare_rows (measure/comparison.h), all compared rows as one table. Runs in which a row did not pass are left out.
// A row that is SLOWER by more than `regression_percent` is a regression. Throws FileError for times that are no times.
TableComparison compare_table(std::vector<MatchedRow> rows, double regression_percent);

}  // namespace attn
