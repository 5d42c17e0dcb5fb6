#include "sweep/planned_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

std::string what_of(const PlannedRow& row) { return row.part.empty() ? row.algorithm : fmt::format("{}, {}", row.part, row.algorithm); }

}  // namespace

double sampled_s(double run_s, const SamplerOptions& sampler) {
  if (sampler.repetitions) return run_s * (1 + *sampler.repetitions);
  const double fewest = 1 + static_cast<double>(sampler.fewest_samples);
  return run_s * std::clamp(std::ceil(sampler.max_time_s / run_s), 2.0, fewest);
}

Block planned_block(const std::string& id, const std::vector<PlannedRow>& rows, const SamplerOptions& sampler) {
  Block block{0, id, "what would be run"};
  block.text.line(fmt::format("{:>6} | {:<24} | {:<21} | {:>12} | {:>15} | {:>18}", "n", "layer", "what", "GFLOP", "at least, ms each",
                              "at least, s in all"));
  double total_s = 0;
  for (const PlannedRow& row : rows) {
    const double row_s = sampled_s(row.run_s, sampler);
    total_s += row_s;
    block.text.line(
        fmt::format("{:>6} | {:<24} | {:<21} | {:>12.3f} | ", row.point.n, model_text(row.point), what_of(row), row.flops / 1e9));
    block.text.add(fmt::format("{:>15.3f} | {:>18.2f}", 1e3 * row.run_s, row_s), Cell::measured);
    Row record;
    if (!row.part.empty()) record.exact("part", row.part);
    record.exact("algorithm", row.algorithm);
    add_model_point(record, row.point);
    record.exact("flops", row.flops).exact("bytes_model", row.bytes_model > 0 ? Json(row.bytes_model) : Json());
    block.rows.push_back(record.measured("predicted_s", row.run_s).measured("predicted_total_s", row_s));
  }
  block.text.line("all rows, at least: ").add(fmt::format("{:.1f} s", total_s), Cell::measured);
  return block;
}

}  // namespace attn
