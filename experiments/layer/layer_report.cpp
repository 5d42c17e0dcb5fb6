#include "layer/layer_report.h"

#include "machine/isa_targets.h"
#include "machine/threads.h"
#include "report/uncertainty.h"
#include "resume.h"

namespace attn {
namespace {

std::string_view mask_name(bool causal) { return causal ? "causal" : "none"; }

std::string_view name_of(AttentionAlgorithm algorithm) { return algorithm == AttentionAlgorithm::standard ? "standard" : "fused"; }

bool is_attention(LayerPart part) { return part == LayerPart::standard_attention || part == LayerPart::fused_attention; }

// What a part of the layer is, or the layer itself.
void add_parameters(Row& record, std::string_view part, std::string_view algorithm, const ModelPoint& point, bool causal) {
  record.exact("part", part).exact("algorithm", algorithm);
  add_model_point(record, point);
  record.exact("mask", mask_name(causal)).exact("protocol", "steady").exact("threads", threads()).measured("isa", active_target());
}

void add_part_parameters(Row& record, const LayerPartRow& row, const LayerOptions& options) {
  add_parameters(record, name_of(row.part), algorithm_of(row.part), row.point, options.causal);
  record.exact("seed", options.seed.text()).exact("stream_position", row.stream_position);
}

std::string repro_command(const LayerPartRow& row, const LayerOptions& options) {
  return fmt::format("attn layer-sweep {}{} --threads {} --seed {} --advance {}", model_options(row.point),
                     options.causal ? " --causal" : "", threads(), options.seed.text(), advance_text(row.stream_position));
}

std::string line_start(const ModelPoint& point, const std::string& part) {
  return fmt::format("{:>6} | {:<24} | {:<20} | ", point.n, model_text(point), part);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// The part's share of the layer's time, where that has the part and was timed.
std::string time_share(const LayerPartRow& part, const LayerTotal& layer) {
  const LayerPart attention = layer.algorithm == AttentionAlgorithm::standard ? LayerPart::standard_attention : LayerPart::fused_attention;
  if (!layer.time_s || (is_attention(part.part) && part.part != attention)) return "";
  return percent(part.median_s() / layer.time_s->total());
}

void add_part_line(Text& text, const LayerPartRow& row, const std::vector<LayerTotal>& layers, Statistic statistic) {
  const std::string_view algorithm = is_attention(row.part) ? algorithm_of(row.part) : "";
  text.line(line_start(row.point, fmt::format("{}{}{}", name_of(row.part), algorithm.empty() ? "" : ", ", algorithm)));
  if (!row.reason.empty()) text.add(fmt::format("{}: ", status_name(row.status))).add(row.reason, Cell::measured);
  if (!row.timed() || row.status != Status::passed) return;
  text.add(fmt::format("{:>17} | {:>9.1f} | {:>7}", time_text(*row.measurement, statistic), row.gflops(),
                       percent(row.gflops() / *row.peak_gflops)),
           Cell::measured);
  text.add(fmt::format(" | {:>9.4g} | {:>8} | ", row.flops / 1e9, percent(row.flops / layers.front().flops.total())));
  text.add(fmt::format("{:>17} | {:>14}", time_share(row, layers[0]), time_share(row, layers[1])), Cell::measured);
}

void add_layer_line(Text& text, const LayerTotal& layer) {
  if (!layer.time_s) return;
  text.line(line_start(layer.point, fmt::format("layer, {}", name_of(layer.algorithm))));
  const double seconds = layer.time_s->total();
  text.add(
      fmt::format("{:>17.{}f} | {:>9.1f} | {:>7}", 1e3 * seconds, supported_decimals(5 * seconds), layer.flops.total() / seconds / 1e9, ""),
      Cell::measured);
  text.add(fmt::format(" | {:>9.4g} | {:>8} | ", layer.flops.total() / 1e9, "100.0 %"));
  const bool standard = layer.algorithm == AttentionAlgorithm::standard;
  text.add(fmt::format("{:>17} | {:>14}", standard ? "100.0 %" : "", standard ? "" : "100.0 %"));
}

// "from n = 2310 (2290 to 2330) on, between 2048 and 4096"
std::string majority_text(const Majority& majority) {
  if (!majority.above) return majority.below ? fmt::format("not up to n = {}", *majority.below) : "not known";
  if (!majority.below) return fmt::format("at n = {} already", *majority.above);
  std::string text = fmt::format("from about n = {:.0f} on", *majority.n);
  if (majority.n_low && majority.n_high) text += fmt::format(" ({:.0f} to {:.0f} by the noise)", *majority.n_low, *majority.n_high);
  return text + fmt::format(", measured at {} and {}", *majority.below, *majority.above);
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void add_majority(Row& record, const Majority& majority, bool measured) {
  const auto add = [&](const char* name, const Json& value) {
    if (measured) {
      record.measured(name, value);
    } else {
      record.exact(name, value);
    }
  };
  add("n_majority", optional_json(majority.n));
  add("n_below", optional_json(majority.below));
  add("n_above", optional_json(majority.above));
  add("n_low", optional_json(majority.n_low));
  add("n_high", optional_json(majority.n_high));
}

void add_flops_majority(Block& block, const LayerMajority& majority, bool causal) {
  const std::string model = model_text(majority.model);
  block.text.line(fmt::format("{}: attention is more than half of the operations: from n = {} on ({}{})", model, majority.by_flops_exactly,
                              causal ? "12 d_model" : "6 d_model + 1", causal ? "; pairs that a query sees are counted" : ""));
  Row record;
  record.exact("by", "flops").exact("series", model).exact("mask", mask_name(causal));
  add_majority(record, majority.by_flops, false);
  block.rows.push_back(record.exact("n_closed_form", majority.by_flops_exactly));
}

void add_time_majority(Block& block, const LayerMajority& majority, bool causal) {
  const std::string model = model_text(majority.model);
  block.text.line(fmt::format("{}: ... of the time, {}: ", model, name_of(majority.algorithm)));
  block.text.add(majority_text(majority.by_time), Cell::measured);
  Row record;
  record.exact("by", "time").exact("algorithm", name_of(majority.algorithm)).exact("series", model).exact("mask", mask_name(causal));
  add_majority(record, majority.by_time, true);
  block.rows.push_back(record);
}

}  // namespace

Row part_record(const LayerPartRow& row, const LayerOptions& options) {
  Row record;
  add_part_parameters(record, row, options);
  record.exact("flops", row.flops).exact("flops_convention", is_attention(row.part) ? "2 (d + d_v) per visible pair" : "2 m n k");
  record.exact("input_hash", row.input_hash).measured("output_hash", row.output_hash);
  if (row.timed()) {
    add_times(record, *row.measurement);
    record.measured("gflops", row.gflops()).measured("peak_gflops", *row.peak_gflops);
    record.measured("peak_fraction", row.gflops() / *row.peak_gflops);
  }
  record.exact("repro", repro_command(row, options));
  record.exact("status", status_name(row.status)).measured("reason", row.reason.empty() ? Json() : Json(row.reason));
  return record;
}

Row layer_record(const LayerTotal& layer, const LayerOptions& options) {
  Row record;
  add_parameters(record, "layer", name_of(layer.algorithm), layer.point, options.causal);
  record.exact("flops", layer.flops.total()).exact("flops_convention", "2 m n k and 2 (d + d_v) per visible pair");
  record.exact("attention_flops_share", layer.flops.attention_share());
  if (layer.time_s) {
    record.measured("time_median_s", layer.time_s->total()).measured("gflops", layer.flops.total() / layer.time_s->total() / 1e9);
    record.measured("attention_time_share", layer.time_s->attention_share());
  }
  return record;
}

bool restore(LayerPartRow& row, const LayerOptions& options, const std::vector<Json>& finished) {
  Row parameters;
  add_part_parameters(parameters, row, options);
  const Json* found = find_row(finished, "layer", parameters);
  if (!restore_timed(row, found)) return false;
  return true;
}

Text layer_text(const std::vector<LayerPartRow>& parts, const std::vector<LayerTotal>& layers, Statistic statistic, bool first) {
  Text text;
  if (first) {
    text.line(fmt::format("{:>6} | {:<24} | {:<20} | {:>17} | {:>9} | {:>7} | {:>9} | {:>8} | {:>17} | {:>14}", "n", "layer", "part", "ms",
                          "GFLOP/s", "of peak", "GFLOP", "of FLOPs", "of time, standard", "of time, fused"));
  }
  for (const LayerPartRow& part : parts) add_part_line(text, part, layers, statistic);
  for (const LayerTotal& layer : layers) add_layer_line(text, layer);
  return text;
}

Block majority_block(const std::vector<LayerMajority>& majorities, bool causal) {
  Block block{0, "majority", "from which n on attention is more than half"};
  for (const LayerMajority& majority : majorities) {
    if (majority.algorithm == AttentionAlgorithm::standard) add_flops_majority(block, majority, causal);
    add_time_majority(block, majority, causal);
  }
  return block;
}

}  // namespace attn
