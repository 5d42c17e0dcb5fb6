// `attn compare`: did the times of two sets of runs change? Row by row, from their samples (measure/comparison.h has the method).
#include <algorithm>
#include <memory>

#include "compare/comparison_report.h"

#include "compare/row_identity.h"
#include "experiment.h"
#include "machine/error.h"
#include "options/number_list.h"
#include "options/options.h"

namespace attn {
namespace {

struct CompareOptions {
  std::string old_files;
  std::string new_files;
  double regression_percent = 5;
  bool allow_different_host = false;
};

double parse_percent(const std::string& text) {
  const double percent = parse_number("--fail-on-regression", text);
  if (percent < 0) throw UsageError(fmt::format("--fail-on-regression: expected 0 or more, found '{}'", text));
  return percent;
}

void refuse_different_hosts(const std::vector<HostDifference>& differences) {
  if (differences.empty()) return;
  const std::size_t others = differences.size() - 1;
  const std::string more = others == 0 ? "" : fmt::format(" (and {} more)", others);
  throw UsageError(
      fmt::format("compare: {}{}; their times cannot be compared without --allow-different-host", differences.front().text(), more));
}

// The label of the first row that only one side has, as an example for an error message.
std::string example(const std::vector<MatchedRow>& rows, bool old_side) {
  for (const MatchedRow& row : rows) {
    if (row.old_runs.empty() != old_side) return fmt::format("'{}'", label_of(row.parameters));
  }
  return "none";
}

void require_common_rows(const std::vector<MatchedRow>& rows) {
  const bool common =
      std::any_of(rows.begin(), rows.end(), [](const MatchedRow& row) { return !row.old_runs.empty() && !row.new_runs.empty(); });
  if (common) return;
  throw UsageError(fmt::format("compare: rows: expected some that both sides have, found {} only in OLD, {} only in NEW",
                               example(rows, true), example(rows, false)));
}

Report run_compare(const CompareOptions& options) {
  ComparedSides sides{read_side("OLD", options.old_files),
                      read_side("NEW", options.new_files),
                      {},
                      options.regression_percent,
                      options.allow_different_host};
  std::vector<MatchedRow> rows = match_rows(sides.old_side, sides.new_side);
  sides.differences = host_differences(sides.old_side, sides.new_side, rows);
  if (!options.allow_different_host) refuse_different_hosts(sides.differences);
  require_common_rows(rows);
  const TableComparison table = compare_table(std::move(rows), options.regression_percent);
  if (table.compared() == 0) throw UsageError("compare: times: expected some in rows that both sides have, found none");
  return comparison_report(sides, table);
}

std::function<Report(Session&)> set_up_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  add_text(app, "OLD", "FILE[,FILE...]", options->old_files, "JSON documents or JSON Lines of the runs before, separated by commas")
      .required();
  add_text(app, "NEW", "FILE[,FILE...]", options->new_files, "Those of the runs after").required();
  add_parsed(
      app, "--fail-on-regression", "PCT", [options](const std::string& text) { options->regression_percent = parse_percent(text); },
      "Exit 1 if a row is SLOWER by more percent than this")
      .default_str("5");
  add_flag(app, "--allow-different-host", options->allow_different_host,
           "Compare although CPU, instruction set, threads, compiler, flags or build type differ, and say so");
  return [options](Session&) { return run_compare(*options); };
}

}  // namespace

Experiment compare() { return {"compare", "Which rows of two sets of runs became faster or slower", {}, set_up_compare}; }

}  // namespace attn
