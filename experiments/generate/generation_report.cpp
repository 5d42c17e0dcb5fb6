#include "generate/generation_report.h"

#include <cmath>
#include <limits>

#include "machine/isa_targets.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "resume.h"

namespace attn {
namespace {

constexpr const char* flops_convention = "2 m n k and 2 (d + d_v) per visible pair";

// What makes a row this row.
void add_parameters(Row& record, const GenerationRow& row, const GenerationOptions& options) {
  record.exact("algorithm", name_of(row.way));
  add_model_point(record, row.point);
  record.exact("mask", "causal").exact("protocol", "steady").exact("threads", threads()).measured("isa", active_target());
  record.exact("seed", options.seed.text()).exact("stream_position", row.stream_position);
}

void add_rates(Row& record, const GenerationRow& row) {
  record.measured("time_per_token_s", row.per_token_s());
  record.measured("gflops", row.gflops()).measured("peak_gflops", *row.peak_gflops);
  record.measured("peak_fraction", row.gflops() / *row.peak_gflops).measured("gbps", row.gbps());
  if (!row.read_gbps_ceiling) return;
  record.measured("read_gbps_ceiling", *row.read_gbps_ceiling).measured("read_fraction", row.gbps() / *row.read_gbps_ceiling);
}

std::string peak_text(const GenerationRow& row) {
  const std::string share = fmt::format("{:.1f} %", 100 * row.gflops() / *row.peak_gflops);
  if (!row.read_gbps_ceiling) return share;
  return fmt::format("{} (read {:.1f} %)", share, 100 * row.gbps() / *row.read_gbps_ceiling);
}

std::string exponent_text(const GrowthFit& fit) {
  std::string text = fmt::format("{:.2f}", fit.exponent);
  if (fit.exponent_low) text += fmt::format(" (95 %: {:.2f} to {:.2f})", *fit.exponent_low, *fit.exponent_high);
  return text;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

Row generation_record(const GenerationRow& row, const GenerationOptions& options) {
  Row record;
  add_parameters(record, row, options);
  record.exact("flops", row.flops).exact("flops_convention", flops_convention).exact("bytes_model", row.bytes_model);
  record.exact("cache_bytes", row.cache_bytes).exact("input_hash", row.input_hash).measured("output_hash", row.output_hash);
  if (row.timed()) {
    add_times(record, *row.measurement);
    add_rates(record, row);
    record.exact("rows", row.rows);
    record.measured("largest_share", std::isfinite(row.largest_share) ? Json(row.largest_share) : Json());
    record.measured("largest_difference", row.largest_difference);
  }
  record.exact("repro", fmt::format("attn generate-sweep {} --threads {} --seed {} --advance {}", model_options(row.point), threads(),
                                    options.seed.text(), advance_text(row.stream_position)));
  record.exact("status", status_name(row.status)).measured("reason", row.reason.empty() ? Json() : Json(row.reason));
  return record;
}

bool restore(GenerationRow& row, const GenerationOptions& options, const std::vector<Json>& finished) {
  Row parameters;
  add_parameters(parameters, row, options);
  const Json* found = find_row(finished, "generation", parameters);
  if (!restore_timed(row, found)) return false;
  row.read_gbps_ceiling = optional_number<double>(*found, "read_gbps_ceiling");
  row.rows = found->at("rows");
  row.largest_share = optional_number<double>(*found, "largest_share").value_or(std::numeric_limits<double>::infinity());
  row.largest_difference = found->at("largest_difference");
  return true;
}

Text generation_text(const std::vector<GenerationRow>& rows, Statistic statistic, bool first) {
  Text text;
  if (first) {
    text.line(fmt::format("{:>6} | {:<24} | {:<8} | {:>17} | {:>12} | {:>9} | {:>9} | {:>23} | {:>9} | {:>6}", "n", "layer", "way", "ms",
                          "ms per token", "GFLOP", "GFLOP/s", "of peak", "cache", "speed"));
  }
  for (const GenerationRow& row : rows) {
    text.line(fmt::format("{:>6} | {:<24} | {:<8} | ", row.point.n, model_text(row.point), name_of(row.way)));
    if (!row.reason.empty()) text.add(fmt::format("{}: ", status_name(row.status))).add(row.reason, Cell::measured);
    if (!row.timed() || row.status != Status::passed) continue;
    const double seconds = shown_s(*row.measurement, statistic);
    const double base = rows.front().timed() ? shown_s(*rows.front().measurement, statistic) : seconds;
    text.add(fmt::format("{:>17}", time_text(*row.measurement, statistic)), Cell::measured).add(" | ");
    text.add(fmt::format("{:>12.3f}", 1e3 * seconds / static_cast<double>(row.point.n)), Cell::measured);
    text.add(fmt::format(" | {:>9.4g} | ", row.flops / 1e9)).add(fmt::format("{:>9.1f}", row.gflops()), Cell::measured).add(" | ");
    text.add(fmt::format("{:>23}", peak_text(row)), Cell::measured);
    text.add(fmt::format(" | {:>9} | ", row.cache_bytes == 0 ? "" : format_bytes(static_cast<std::uint64_t>(row.cache_bytes))));
    text.add(fmt::format("{:>6.2f}", base / seconds), Cell::measured);
  }
  return text;
}

Block generation_growth_block(const std::vector<GenerationGrowth>& growths) {
  Block block{0, "growth", "growth with n"};
  for (const GenerationGrowth& growth : growths) {
    block.text.line(fmt::format("{} {}: time ~ n^", name_of(growth.way), model_text(growth.model)));
    block.text.add(exponent_text(growth.time), Cell::measured).add(", per token ~ n^");
    block.text.add(fmt::format("{:.2f}", growth.time.exponent - 1), Cell::measured);
    block.text.add(fmt::format("; operations ~ n^{:.2f}", growth.flops.exponent));
    block.rows.push_back(Row()
                             .exact("algorithm", name_of(growth.way))
                             .exact("series", model_text(growth.model))
                             .measured("growth_time", growth.time.growth_per_doubling)
                             .measured("exponent_time", growth.time.exponent)
                             .measured("exponent_low", optional_json(growth.time.exponent_low))
                             .measured("exponent_high", optional_json(growth.time.exponent_high))
                             .exact("exponent_flops", growth.flops.exponent));
  }
  return block;
}

}  // namespace attn
