#include "timing/steady_report.h"

#include <algorithm>
#include <cmath>

#include "attention/fused.h"
#include "demo.h"
#include "machine/isa_targets.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"

namespace attn {
namespace {

bool only_scores(const SteadyOptions& options) {
  return std::all_of(options.contenders.begin(), options.contenders.end(), [](const Contender& c) { return c.work == Work::scores; });
}

Json window_json(Index side) { return side == unlimited ? Json() : Json(side); }

void add_problem(Row& record, const SteadyRow& row, const SteadyOptions& options) {
  const AttentionShape shape = shape_of(row.contender.work, row.point);
  const Modifiers& modifiers = options.modifiers;
  record.exact("algorithm", row.contender.algorithm).exact("what", name_of(row.contender.work));
  record.exact("dtype", name_of(row.point.precision)).exact("batch", shape.batch).exact("heads", shape.heads);
  record.exact("kv_heads", shape.kv_heads).exact("seq_q", shape.seq_q).exact("seq_k", shape.seq_k).exact("head_dim", shape.head_dim);
  record.exact("head_dim_v", shape.head_dim_v).exact("mask", modifiers.causal ? "causal" : "none");
  record.exact("window_left", window_json(modifiers.window_left)).exact("window_right", window_json(modifiers.window_right));
  record.exact("softcap", modifiers.softcap).exact("protocol", "steady").exact("threads", threads()).measured("isa", active_target());
  record.exact("seed", options.seed.text()).exact("stream_position", row.stream_position);
}

void add_times(Row& record, const Measurement& measurement) {
  const Summary& s = *measurement.summary;
  record.measured("time_s", {{"median", s.median / 1e9},
                             {"mean", s.mean / 1e9},
                             {"min", s.min / 1e9},
                             {"stddev", s.stddev / 1e9},
                             {"half_iqr", measurement.noise ? Json(s.half_iqr / 1e9) : Json()}});
  record.measured("time_median_s", s.median / 1e9).measured("samples", s.count).measured("samples_ns", measurement.samples_ns);
  record.measured("inner_iterations", measurement.inner_iterations).measured("warm_up_ns", measurement.warm_up_ns);
  record.measured("noise", measurement.noise ? Json(*measurement.noise) : Json());
  record.measured("stop_reason", name_of(measurement.stop_reason));
  Json warnings = Json::array();
  for (const Warning& warning : measurement.warnings) {
    warnings.push_back({{"kind", name_of(warning.kind)}, {"strong", warning.strong}, {"text", warning.text}});
  }
  record.measured("warnings", warnings);
}

void add_rates(Row& record, const SteadyRow& row) {
  record.measured("gflops", row.gflops()).measured("peak_gflops", *row.peak_gflops);
  record.measured("peak_fraction", row.gflops() / *row.peak_gflops).measured("gbps", row.gbps());
  if (row.read_gbps_ceiling) {
    record.measured("read_gbps_ceiling", *row.read_gbps_ceiling).measured("read_fraction", row.gbps() / *row.read_gbps_ceiling);
  }
}

std::string time_text(const Measurement& measurement) {
  const Summary& s = *measurement.summary;
  const std::string median = fmt::format("{:.3f}", s.median / 1e6);
  return measurement.noise ? fmt::format("{} ± {:.3f}", median, s.half_iqr / 1e6) : median;
}

// fmt counts code points, as terminals count columns for what is printed here.
std::string padded(const std::string& text, std::size_t width) { return fmt::format("{:>{}}", text, width); }

std::string peak_text(const SteadyRow& row) {
  const std::string share = fmt::format("{:.1f} %", 100 * row.gflops() / *row.peak_gflops);
  if (row.read_gbps_ceiling) return fmt::format("{} (read {:.1f} %)", share, 100 * row.gbps() / *row.read_gbps_ceiling);
  if (row.contender.work != Work::fused || active_target() != "AVX3") return share;
  const AttentionShape shape = shape_of(row.contender.work, row.point);
  const double bound = row.point.precision == Precision::f32 ? fused_peak_bound<float>(shape.head_dim, shape.head_dim_v)
                                                             : fused_peak_bound<double>(shape.head_dim, shape.head_dim_v);
  return fmt::format("{} (exp: {:.1f} %)", share, 100 * bound);
}

// The sizes of a row beyond n, where they are not the defaults.
std::string point_text(const TimingPoint& point, const SteadyOptions& options) {
  std::string text = std::string(name_of(point.precision)) + fmt::format(" d={}", point.d);
  if (point.d_v != point.d) text += fmt::format(" d_v={}", point.d_v);
  if (point.n_k != point.n) text += fmt::format(" n_k={}", point.n_k);
  if (point.heads != 1) text += fmt::format(" heads={}", point.heads);
  if (point.kv_heads != point.heads) text += fmt::format(" kv_heads={}", point.kv_heads);
  if (point.batch != 1) text += fmt::format(" batch={}", point.batch);
  if (options.modifiers.causal) text += " causal";
  if (options.modifiers.window_left != unlimited || options.modifiers.window_right != unlimited) text += " window";
  if (options.modifiers.softcap > 0) text += " softcap";
  return text;
}

void add_stats(Text& text, const SteadyRow& row) {
  const Measurement& m = *row.measurement;
  text.line("        ")
      .add(
          fmt::format("{:.2f} GFLOP/s of {:.1f}, {:.2f} GB/s by the model, min {:.3f} ms, mean {:.3f} ms, {} samples of {}, stopped by {}, "
                      "own peak {}, process peak {}",
                      row.gflops(), *row.peak_gflops, row.gbps(), m.summary->min / 1e6, m.summary->mean / 1e6, m.summary->count,
                      m.inner_iterations, name_of(m.stop_reason), format_bytes(row.peak_bytes),
                      row.process_peak_bytes ? format_bytes(*row.process_peak_bytes) : "unknown"),
          Cell::measured);
}

void add_scores_line(Text& text, const SteadyRow& row) {
  const AttentionShape shape = shape_of(row.contender.work, row.point);
  const double bytes = static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.seq_q) *
                       static_cast<double>(shape.seq_k) * static_cast<double>(bytes_of(row.point.precision));
  text.line(fmt::format("n={:>5}  {} {}  {:>5.0f} MB  ", shape.seq_q, row.contender.algorithm, shape_text(shape.seq_q, shape.seq_k),
                        bytes / 1e6));
}

constexpr int problem_width = 28;

void add_table_line(Text& text, const SteadyRow& row, const SteadyOptions& options) {
  text.line(fmt::format("{:>7} | {:<{}} | {:<9} | ", row.point.n, point_text(row.point, options), problem_width, row.contender.algorithm));
}

}  // namespace

Row steady_record(const SteadyRow& row, const SteadyOptions& options) {
  Row record;
  add_problem(record, row, options);
  record.exact("flops", row.flops)
      .exact("flops_convention",
             row.contender.work == Work::scores || row.contender.work == Work::gemm ? "2 m n k" : "2 (d + d_v) per visible pair");
  record.exact("bytes_model", row.bytes_model).measured("peak_bytes", row.peak_bytes);
  record.measured("process_peak_bytes", row.process_peak_bytes ? Json(*row.process_peak_bytes) : Json());
  record.measured("input_buffers", row.input_buffers).exact("input_hash", row.input_hash).measured("output_hash", row.output_hash);
  if (row.timed()) {
    add_times(record, *row.measurement);
    add_rates(record, row);
  }
  record.exact("status", status_name(row.status)).measured("reason", row.reason.empty() ? Json() : Json(row.reason));
  return record;
}

Text steady_text(const std::vector<SteadyRow>& rows, const SteadyOptions& options, bool first, bool stats) {
  Text text;
  const bool scores = only_scores(options);
  if (first && !scores) {
    text.line(fmt::format("{:>7} | {:<{}} | {:<9} | {:>17} | {:>9} | {:>22} | {:>11} | {:>6}", "n", "problem", problem_width, "what", "ms",
                          "GFLOP/s", "of peak", "peak memory", "speed"));
  }
  const auto base = std::find_if(rows.begin(), rows.end(), [](const SteadyRow& row) { return row.timed(); });
  for (const SteadyRow& row : rows) {
    if (scores) {
      add_scores_line(text, row);
    } else {
      add_table_line(text, row, options);
    }
    if (!row.reason.empty()) text.add(fmt::format("{}: ", status_name(row.status))).add(row.reason, Cell::measured);
    if (!row.timed() || row.status != Status::passed) continue;
    if (scores) {
      text.add(time_text(*row.measurement), Cell::measured).add(" ms");
    } else {
      text.add(padded(time_text(*row.measurement), 17), Cell::measured).add(" | ");
      text.add(fmt::format("{:>9.1f}", row.gflops()), Cell::measured).add(" | ");
      text.add(padded(peak_text(row), 22), Cell::measured).add(" | ");
      text.add(padded(format_bytes(row.peak_bytes), 11), Cell::measured).add(" | ");
      text.add(fmt::format("{:>6.2f}", base->median_s() / row.median_s()), Cell::measured);
    }
    if (stats) add_stats(text, row);
  }
  return text;
}

Text growth_text(const std::vector<Growth>& growths, bool stats) {
  Text text;
  for (const Growth& growth : growths) {
    text.line(fmt::format("{}: per doubling of n: ", growth.name));
    text.add(fmt::format("memory x{:.2f}, time x{:.2f}", growth.per_doubling_bytes, growth.per_doubling_time), Cell::measured);
    if (!stats) continue;
    text.add(", time ~ n^").add(fmt::format("{:.2f}", growth.exponent), Cell::measured);
    if (growth.exponent_low)
      text.add(fmt::format(" (95 %: {:.2f} to {:.2f})", *growth.exponent_low, *growth.exponent_high), Cell::measured);
  }
  return text;
}

}  // namespace attn
