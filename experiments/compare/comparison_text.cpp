#include "compare/comparison_text.h"

#include <algorithm>
#include <cmath>

#include "compare/row_identity.h"

namespace attn {
namespace {

// Milliseconds with four significant digits, never in powers of ten.
std::string ms_text(double seconds) {
  const double ms = 1e3 * seconds;
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(ms))), 0, 6);
  return fmt::format("{:.{}f}", ms, decimals);
}

std::string percent_text(double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); }

std::string interval_text(const RowComparison& c) {
  if (std::min(c.old_samples, c.new_samples) < 2) return "-";
  return fmt::format("{} to {}", percent_text(c.ratio_low), percent_text(c.ratio_high));
}

bool any_hash_differs(const TableComparison& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const ComparedRow& row) { return row.input == Agreement::different || row.output == Agreement::different; });
}

std::string differing_hashes(const ComparedRow& row) {
  const bool input = row.input == Agreement::different;
  const bool output = row.output == Agreement::different;
  if (input && output) return "input, output";
  return input ? "input" : output ? "output" : "";
}

// The text's one list of columns: a line of headings or of a row's cells.
std::string table_line(std::size_t width, const std::string& label, const std::string& old_ms, const std::string& new_ms,
                       const std::string& change, const std::string& interval, const std::string& samples, const std::string& verdict) {
  return fmt::format("{:<{}} | {:>8} | {:>8} | {:>8} | {:>16} | {:>7} | {}", label, width, old_ms, new_ms, change, interval, samples,
                     verdict);
}

std::string row_line(const ComparedRow& row, std::size_t width) {
  const std::string label = label_of(row.row.parameters);
  if (!row.comparison) return fmt::format("{:<{}} | {}", label, width, row.reason);
  const RowComparison& c = *row.comparison;
  std::string samples = std::to_string(c.old_samples);
  if (c.new_samples != c.old_samples) samples += fmt::format("/{}", c.new_samples);
  return table_line(width, label, ms_text(row.old_median_s), ms_text(row.new_median_s), percent_text(c.ratio), interval_text(c), samples,
                    std::string(name_of(c.verdict)));
}

void add_table(Text& text, const TableComparison& table) {
  std::size_t width = 3;
  for (const ComparedRow& row : table.rows) width = std::max(width, label_of(row.row.parameters).size());
  const bool hashes = any_hash_differs(table);
  text.line(table_line(width, "row", "old ms", "new ms", "change %", "95 % interval", "samples", "verdict"))
      .add(hashes ? " | differs" : "");
  for (const ComparedRow& row : table.rows) {
    text.line(row_line(row, width));
    const std::string differing = row.comparison ? differing_hashes(row) : "";
    if (!differing.empty()) text.add(fmt::format("{:{}} | {}", "", 7 - name_of(row.comparison->verdict).size(), differing));
  }
}

// Which file, from which source, built and run how. What cannot be seen is left out.
void add_files(Text& text, const Side& side) {
  for (const ComparedFile& file : side.files) {
    text.line(fmt::format("{}: {}, revision {}", side.name, file.path, revision_of(file.context)));
    for (const char* name : {"isa", "compiler", "library_build_type"}) {
      const std::string value = text_of(file.context, name);
      if (!value.empty()) text.add(", " + value);
    }
    const Json threads = file.context.value("threads", Json());
    if (threads.is_number()) text.add(fmt::format(", threads {}", threads.dump()));
  }
}

void add_summary(Text& text, const TableComparison& table, double regression_percent) {
  const std::size_t compared = table.compared();
  text.line(fmt::format("{} row{} compared: ", compared, compared == 1 ? "" : "s"));
  const char* comma = "";
  for (const Verdict verdict : {Verdict::same, Verdict::faster, Verdict::slower, Verdict::unsure}) {
    text.add(fmt::format("{}{} {}", comma, table.count(verdict), name_of(verdict)));
    comma = ", ";
  }
  if (compared < table.rows.size()) text.add(fmt::format("; not compared: {}", table.rows.size() - compared));
  text.line(fmt::format("geometric mean of the changes: {} %", percent_text(*table.geometric_mean)));
  if (table.regressions() > 0) text.line(fmt::format("SLOWER by more than {} %:", regression_percent));
  for (const ComparedRow& row : table.rows) {
    if (row.regression) text.line(fmt::format("  {}: {} %", label_of(row.row.parameters), percent_text(row.comparison->ratio)));
  }
}

void add_left_out_runs(Text& text, const TableComparison& table) {
  for (const ComparedRow& row : table.rows) {
    if (row.comparison && !row.reason.empty()) text.line(fmt::format("left out: {}: {}", label_of(row.row.parameters), row.reason));
  }
}

}  // namespace

Text comparison_text(const ComparedSides& sides, const TableComparison& table) {
  Text text;
  add_files(text, sides.old_side);
  add_files(text, sides.new_side);
  for (const HostDifference& difference : sides.differences) text.line("DIFFERENT HOST: " + difference.text());
  text.line();
  add_table(text, table);
  text.line();
  add_left_out_runs(text, table);
  add_summary(text, table, sides.regression_percent);
  return text;
}

}  // namespace attn
