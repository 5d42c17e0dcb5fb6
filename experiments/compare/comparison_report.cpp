#include "compare/comparison_report.h"

#include <algorithm>
#include <cmath>

#include "compare/comparison_text.h"
#include "compare/row_identity.h"

namespace attn {
namespace {

// Percent with three decimals: what the last of them says is far below any noise.
Json percent(double ratio) { return std::round(1e5 * (ratio - 1)) / 1e3; }

Json files_json(const Side& side) {
  Json files = Json::array();
  for (const ComparedFile& file : side.files) {
    Json facts = {{"file", file.path}};
    for (const char* name : {"date", "git_sha", "git_dirty", "attn_version", "cpu_model", "isa", "threads", "compiler", "compiler_flags",
                             "library_build_type", "libraries"}) {
      if (file.context.contains(name)) facts[name] = file.context[name];
    }
    files.push_back(std::move(facts));
  }
  return files;
}

Json differing_fields(const std::vector<HostDifference>& differences) {
  if (differences.empty()) return nullptr;
  std::string fields;
  for (const HostDifference& difference : differences) fields += (fields.empty() ? "" : " ") + difference.field;
  return fields;
}

// Six significant digits: samples are in the documents that were compared.
Json seconds(double value) { return std::stod(fmt::format("{:.6g}", value)); }

Json statistics_json(const RowComparison& c, bool interval) {
  return {{"ratio", c.ratio},
          {"ratio_low", interval ? Json(c.ratio_low) : Json()},
          {"ratio_high", interval ? Json(c.ratio_high) : Json()},
          {"p", c.p},
          {"p_holm", c.p_holm}};
}

// The same fields for every row, null where it was not compared.
void add_times(Row& out, const ComparedRow& row) {
  const RowComparison c = row.comparison.value_or(RowComparison{});
  const auto known = [&](const Json& value) { return row.comparison ? value : Json(); };
  const bool interval = std::min(c.old_samples, c.new_samples) > 1;  // a single sample has none
  out.exact("verdict", known(name_of(c.verdict))).exact("change_percent", known(percent(c.ratio)));
  out.exact("change_low_percent", interval ? percent(c.ratio_low) : Json());
  out.exact("change_high_percent", interval ? percent(c.ratio_high) : Json());
  out.exact("old_median_s", known(seconds(row.old_median_s))).exact("new_median_s", known(seconds(row.new_median_s)));
  out.exact("old_samples", c.old_samples).exact("new_samples", c.new_samples);
  out.exact("statistics", known(statistics_json(c, interval)));
}

Row row_record(const ComparedRow& row, const ComparedSides& sides) {
  Row out;
  out.exact("label", label_of(row.row.parameters)).exact("parameters", row.row.parameters);
  add_times(out, row);
  out.exact("old_runs", row.row.old_runs.size()).exact("new_runs", row.row.new_runs.size());
  out.exact("input", name_of(row.input)).exact("output", name_of(row.output));
  out.exact("old_revision", revisions_of(sides.old_side)).exact("new_revision", revisions_of(sides.new_side));
  out.exact("different_host", differing_fields(sides.differences));
  out.exact("status", status_name(!row.comparison ? Status::skipped : row.regression ? Status::failed : Status::passed));
  out.exact("reason", row.reason.empty() ? Json() : Json(row.reason));
  return out;
}

Row summary_record(const TableComparison& table) {
  Row out;
  out.exact("label", "geometric mean").exact("change_percent", percent(*table.geometric_mean));
  out.exact("counts", {{"rows", table.rows.size()},
                       {"compared", table.compared()},
                       {"same", table.count(Verdict::same)},
                       {"faster", table.count(Verdict::faster)},
                       {"slower", table.count(Verdict::slower)},
                       {"unsure", table.count(Verdict::unsure)},
                       {"regressions", table.regressions()}});
  out.exact("statistics", {{"ratio", *table.geometric_mean}});
  out.exact("status", status_name(table.regressions() > 0 ? Status::failed : Status::passed));
  return out;
}

}  // namespace

Report comparison_report(const ComparedSides& sides, const TableComparison& table) {
  Report report{"compare"};
  report.args = {{"old", files_json(sides.old_side)},
                 {"new", files_json(sides.new_side)},
                 {"fail_on_regression_percent", sides.regression_percent},
                 {"allow_different_host", sides.allow_different_host}};
  report.tabular = true;
  report.headings = Headings::none;
  Block rows{0, "rows", "rows"};
  for (const ComparedRow& row : table.rows) rows.rows.push_back(row_record(row, sides));
  rows.text = comparison_text(sides, table);
  Block summary{0, "summary", "summary"};
  summary.rows.push_back(summary_record(table));
  report.blocks = {std::move(rows), std::move(summary)};
  if (table.regressions() > 0) report.status = Status::failed;
  return report;
}

}  // namespace attn
