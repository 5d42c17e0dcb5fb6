#include "compare/table_comparison.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace attn {
namespace {

using Runs = std::vector<std::vector<double>>;

// Runs without times of a row, and why: runs with the same reason are named together.
class LeftOut {
 public:
  void add(const std::string& what, const std::string& why, const std::string& file) {
    const auto same = std::find_if(reasons_.begin(), reasons_.end(), [&](const Reason& r) { return r.what == what && r.why == why; });
    if (same == reasons_.end()) {
      reasons_.push_back({what, why, file});
    } else {
      same->files += ", " + file;
    }
  }

  // "skipped in a.json, b.json: too large; no times in c.json"
  std::string text() const {
    std::string all;
    for (const Reason& r : reasons_) {
      all += fmt::format("{}{} in {}{}", all.empty() ? "" : "; ", r.what, r.files, r.why.empty() ? "" : ": " + r.why);
    }
    return all;
  }

 private:
  struct Reason {
    std::string what, why, files;
  };
  std::vector<Reason> reasons_;
};

// The times of the runs in which the row passed.
Runs times_of(const std::vector<RunOfRow>& runs, LeftOut& left_out) {
  Runs times;
  for (const RunOfRow& run : runs) {
    const std::string status = text_of(*run.row, "status");
    std::vector<double> samples;
    if (status == "passed") samples = times_ns(*run.file, *run.row);
    if (samples.empty()) {
      left_out.add(status == "passed" ? "no times" : status, text_of(*run.row, "reason"), run.file->path);
    } else {
      times.push_back(std::move(samples));
    }
  }
  return times;
}

Agreement agreement_of(const MatchedRow& row, const std::string& hash) {
  std::string first;
  bool differ = false;
  for (const auto* runs : {&row.old_runs, &row.new_runs}) {
    for (const RunOfRow& run : *runs) {
      const std::string found = text_of(*run.row, hash);
      if (found.empty()) return Agreement::unknown;
      if (first.empty()) first = found;
      differ = differ || found != first;
    }
  }
  return differ ? Agreement::different : Agreement::same;
}

double median_s(const Runs& runs) {
  std::vector<double> medians;
  for (const auto& run : runs) medians.push_back(median(run));
  return geometric_mean(medians) / 1e9;
}

// A row without the comparison of its times, which go to `samples`; empty where it cannot be compared.
ComparedRow compare_all_but_times(MatchedRow row, RowSamples& samples) {
  ComparedRow compared;
  if (row.old_runs.empty() || row.new_runs.empty()) {
    compared.reason = row.new_runs.empty() ? "only in OLD" : "only in NEW";
  } else {
    LeftOut left_out;
    samples = {times_of(row.old_runs, left_out), times_of(row.new_runs, left_out)};
    compared.reason = left_out.text();
    compared.input = agreement_of(row, "input_hash");
    compared.output = agreement_of(row, "output_hash");
  }
  compared.row = std::move(row);
  return compared;
}

}  // namespace

std::string_view name_of(Agreement agreement) {
  if (agreement == Agreement::same) return "same";
  return agreement == Agreement::different ? "different" : "unknown";
}

std::size_t TableComparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.comparison && row.comparison->verdict == verdict; }));
}

std::size_t TableComparison::compared() const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const ComparedRow& row) { return row.comparison.has_value(); }));
}

std::size_t TableComparison::regressions() const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const ComparedRow& row) { return row.regression; }));
}

TableComparison compare_table(std::vector<MatchedRow> rows, double regression_percent) {
  TableComparison table;
  std::vector<RowSamples> times;    // of the rows that can be compared
  std::vector<std::size_t> places;  // where those stand in the table
  for (MatchedRow& row : rows) {
    RowSamples samples;
    table.rows.push_back(compare_all_but_times(std::move(row), samples));
    if (samples.old_runs.empty() || samples.new_runs.empty()) continue;
    times.push_back(std::move(samples));
    places.push_back(table.rows.size() - 1);
  }
  const Comparison comparison = compare_rows(times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    ComparedRow& row = table.rows[places[i]];
    row.comparison = comparison.rows[i];
    row.old_median_s = median_s(times[i].old_runs);
    row.new_median_s = median_s(times[i].new_runs);
    row.regression = row.comparison->verdict == Verdict::slower && row.comparison->change_percent() > regression_percent;
  }
  table.geometric_mean = comparison.geometric_mean;
  return table;
}

}  // namespace attn
