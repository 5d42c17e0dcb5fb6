#include "timing/steady_report.h"

#include <algorithm>

#include "attention/fused.h"
#include "demo.h"
#include "machine/isa_targets.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "resume.h"
#include "timing/measurement_record.h"

namespace attn {
namespace {

bool only_scores(const SteadyOptions& options) {
  return std::all_of(options.contenders.begin(), options.contenders.end(), [](const Contender& c) { return c.work == Work::scores; });
}

Json window_json(Index side) { return side == unlimited ? Json() : Json(side); }

void add_problem(Row& record, const SteadyRow& row, const SteadyOptions& options) {
  const AttentionShape shape = shape_of(row.contender.work, row.point);
  const Modifiers modifiers = applied_modifiers(row.contender.work, options.modifiers);
  record.exact("algorithm", row.contender.algorithm).exact("what", name_of(row.contender.work));
  record.exact("dtype", name_of(row.point.precision)).exact("batch", shape.batch).exact("heads", shape.heads);
  record.exact("kv_heads", shape.kv_heads).exact("seq_q", shape.seq_q).exact("seq_k", shape.seq_k).exact("head_dim", shape.head_dim);
  record.exact("head_dim_v", shape.head_dim_v).exact("mask", modifiers.causal ? "causal" : "none");
  record.exact("window_left", window_json(modifiers.window_left)).exact("window_right", window_json(modifiers.window_right));
  record.exact("softcap", modifiers.softcap).exact("protocol", "steady").exact("threads", threads()).measured("isa", active_target());
  record.exact("seed", options.seed.text()).exact("stream_position", row.stream_position);
}

void add_rates(Row& record, const SteadyRow& row) {
  record.measured("gflops", row.gflops()).measured("peak_gflops", *row.peak_gflops);
  record.measured("peak_fraction", row.gflops() / *row.peak_gflops).measured("gbps", row.gbps());
  if (row.read_gbps_ceiling) {
    record.measured("read_gbps_ceiling", *row.read_gbps_ceiling).measured("read_fraction", row.gbps() / *row.read_gbps_ceiling);
  }
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

// The sizes of a row beyond n that its work has, where they are not the defaults.
std::string problem_text(Work work, const TimingPoint& point, const Modifiers& given) {
  const Modifiers modifiers = applied_modifiers(work, given);
  std::string text = fmt::format("{} d={}", name_of(point.precision), shape_of(work, point).head_dim);
  if (has_values(work) && point.d_v != point.d) text += fmt::format(" d_v={}", point.d_v);
  if (has_n_k(work) && point.n_k != point.n) text += fmt::format(" n_k={}", point.n_k);
  if (has_heads(work) && point.heads != 1) text += fmt::format(" heads={}", point.heads);
  if (has_heads(work) && point.kv_heads != point.heads) text += fmt::format(" kv_heads={}", point.kv_heads);
  if (has_heads(work) && point.batch != 1) text += fmt::format(" batch={}", point.batch);
  if (modifiers.causal) text += " causal";
  if (modifiers.window_left != unlimited || modifiers.window_right != unlimited) text += " window";
  if (modifiers.softcap > 0) text += " softcap";
  return text;
}

// Width of the column of problems: of the longest among all rows of the sweep.
std::size_t problem_width(const SteadyOptions& options) {
  std::size_t width = 28;
  for (const TimingPoint& point : options.points) {
    for (const Contender& contender : options.contenders) {
      width = std::max(width, problem_text(contender.work, point, options.modifiers).size());
    }
  }
  return width;
}

std::size_t algorithm_width(const SteadyOptions& options) {
  std::size_t width = 9;
  for (const Contender& contender : options.contenders) width = std::max(width, contender.algorithm.size());
  return width;
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

void add_table_line(Text& text, const SteadyRow& row, const SteadyOptions& options) {
  const std::string problem = problem_text(row.contender.work, row.point, options.modifiers);
  text.line(fmt::format("{:>7} | {:<{}} | {:<{}} | ", row.point.n, problem, problem_width(options), row.contender.algorithm,
                        algorithm_width(options)));
}

}  // namespace

bool restore(SteadyRow& row, const SteadyOptions& options, const std::vector<Json>& finished) {
  Row problem;
  add_problem(problem, row, options);
  const Json* found = find_row(finished, "timing", problem);
  if (!restore_timed(row, found)) return false;
  row.input_buffers = found->at("input_buffers");
  row.peak_bytes = found->at("peak_bytes");
  row.process_peak_bytes = optional_number<std::uint64_t>(*found, "process_peak_bytes");
  row.read_gbps_ceiling = optional_number<double>(*found, "read_gbps_ceiling");
  return true;
}

std::string repro_command(const SteadyRow& row, const SteadyOptions& options) {
  const TimingPoint& p = row.point;
  const Work work = row.contender.work;
  std::string command =
      fmt::format("attn timing-sweep --protocol steady --what {} --dtype {} --n {}", name_of(work), name_of(p.precision), p.n);
  const auto add = [&command](bool has, const char* option, Index value, Index usual) {
    if (has && value != usual) command += fmt::format(" {} {}", option, value);
  };
  add(has_n_k(work), "--n-k", p.n_k, p.n);
  add(true, "--d", work == Work::gemm ? p.gemm_k : p.d, work == Work::gemm ? p.n : 64);
  add(has_values(work), "--d-v", p.d_v, p.d);
  add(has_heads(work), "--heads", p.heads, 1);
  add(has_heads(work), "--kv-heads", p.kv_heads, p.heads);
  add(has_heads(work), "--batch", p.batch, 1);
  const Modifiers modifiers = applied_modifiers(work, options.modifiers);
  if (modifiers.causal) command += " --causal";
  const auto side = [](Index keys) { return keys == unlimited ? std::string("unlimited") : std::to_string(keys); };
  if (modifiers.window_left != unlimited || modifiers.window_right != unlimited) {
    command += fmt::format(" --window {},{}", side(modifiers.window_left), side(modifiers.window_right));
  }
  if (modifiers.softcap > 0) command += fmt::format(" --softcap {}", modifiers.softcap);
  if (row.contender.library != nullptr) command += fmt::format(" --vs {}={}", row.contender.algorithm, row.contender.library->path());
  command += fmt::format(" --threads {} --seed {}", threads(), options.seed.text());
  return command + " --advance " + advance_text(row.stream_position);
}

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
  record.exact("repro", repro_command(row, options));
  record.exact("status", status_name(row.status)).measured("reason", row.reason.empty() ? Json() : Json(row.reason));
  return record;
}

Text steady_text(const std::vector<SteadyRow>& rows, const SteadyOptions& options, bool first) {
  Text text;
  const bool scores = only_scores(options);
  if (first && !scores) {
    text.line(fmt::format("{:>7} | {:<{}} | {:<{}} | {:>17} | {:>9} | {:>22} | {:>11} | {:>6}", "n", "problem", problem_width(options),
                          "what", algorithm_width(options), "ms", "GFLOP/s", "of peak", "peak memory", "speed"));
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
      text.add(time_text(*row.measurement, options.statistic), Cell::measured).add(" ms");
    } else {
      text.add(padded(time_text(*row.measurement, options.statistic), 17), Cell::measured).add(" | ");
      text.add(fmt::format("{:>9.1f}", row.gflops()), Cell::measured).add(" | ");
      text.add(padded(peak_text(row), 22), Cell::measured).add(" | ");
      text.add(padded(format_bytes(row.peak_bytes), 11), Cell::measured).add(" | ");
      text.add(fmt::format("{:>6.2f}", shown_s(*base->measurement, options.statistic) / shown_s(*row.measurement, options.statistic)),
               Cell::measured);
    }
    if (options.stats) add_stats(text, row);
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
