#include "scaling_sweep.h"

#include <algorithm>
#include <memory>

#include "experiment.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "measure/resource_usage.h"
#include "measure/statistics.h"
#include "options/options.h"
#include "report/fingerprint.h"
#include "resume.h"
#include "scaling/gradient_table.h"
#include "scaling/scaling_plan.h"
#include "stream_rows.h"

namespace attn {
namespace {

void add_rounded_row(Block& block, Index d_k, const ScalingRow<double>& row, const ScalingRow<long double>& precise) {
  const auto add = [&](const char* name, double value, long double exact, int decimals) {
    block.rounded.push_back({fmt::format("{} at d_k = {}", name, d_k), value, exact, decimals});
  };
  add("std of scores", row.std_of_scores, precise.std_of_scores, 1);
  add("unscaled top weight", row.top_weight_unscaled, precise.top_weight_unscaled, 3);
  add("scaled top weight", row.top_weight_scaled, precise.top_weight_scaled, 3);
}

// A row of the table with what it took.
struct TableRow {
  Index d_k = 0;
  Json stream_position;
  Status status = Status::passed;
  std::string reason;
  ScalingRow<double> found;
  ScalingRow<double> errors;
  std::string input_hash;
  std::string output_hash;
  std::size_t peak_bytes = 0;  // of our own allocations: queries, a piece of keys, scores
  std::optional<std::uint64_t> process_peak_bytes;
};

// What a row is: its parameters, and where in the stream it began.
Row parameters_of(const TableRow& row, const ScalingOptions& options) {
  Row record;
  record.exact("head_dim", row.d_k).exact("trials", options.trials).exact("seq_k", options.seq).exact("dtype", "f64");
  record.exact("seed", options.seed.text()).exact("stream_position", row.stream_position);
  return record;
}

Row record_of(const TableRow& row, const ScalingOptions& options) {
  Row record = parameters_of(row, options);
  record.exact("repro", fmt::format("attn scaling-sweep --d-k {} --trials {} --seq {} --seed {} --advance {}", row.d_k, options.trials,
                                    options.seq, options.seed.text(), advance_text(row.stream_position)));
  record.exact("flops", row_flops(row.d_k, options)).exact("flops_convention", "2 d_k per score");
  record.exact("bytes_model", row_bytes(row.d_k, options));
  record.measured("peak_bytes", row.peak_bytes);
  record.measured("process_peak_bytes", row.process_peak_bytes ? Json(*row.process_peak_bytes) : Json());
  record.exact("input_hash", row.input_hash).exact("output_hash", row.output_hash);
  if (row.status == Status::passed) {
    record.exact("std_of_scores", row.found.std_of_scores).exact("top_weight_unscaled", row.found.top_weight_unscaled);
    record.exact("top_weight_scaled", row.found.top_weight_scaled).exact("std_of_scores_error", row.errors.std_of_scores);
    record.exact("top_weight_unscaled_error", row.errors.top_weight_unscaled);
    record.exact("top_weight_scaled_error", row.errors.top_weight_scaled);
  }
  record.exact("status", status_name(row.status)).measured("reason", row.reason.empty() ? Json() : Json(row.reason));
  return record;
}

// True where an earlier run has the row, which is filled in.
bool restore(TableRow& row, const ScalingOptions& options, const std::vector<Json>& earlier) {
  const Json* found = find_row(earlier, "scaling", parameters_of(row, options));
  if (found == nullptr) return false;
  row.found = {found->at("std_of_scores"), found->at("top_weight_unscaled"), found->at("top_weight_scaled")};
  row.errors = {found->at("std_of_scores_error"), found->at("top_weight_unscaled_error"), found->at("top_weight_scaled_error")};
  row.input_hash = found->at("input_hash");
  row.output_hash = found->at("output_hash");
  row.peak_bytes = found->at("peak_bytes");
  row.process_peak_bytes = optional_number<std::uint64_t>(*found, "process_peak_bytes");
  return true;
}

// Draws and computes a row; gives the rounded cells to `block` where `margins`.
void compute(TableRow& row, RowStream& stream, const ScalingOptions& options, bool margins, Block& block) {
  require_memory(score_bytes(row.d_k, options.trials, options.seq, margins), fmt::format("scaling-sweep: d_k = {}", row.d_k));
  const std::size_t before = allocated_bytes();
  reset_allocation_high_water();
  const DrawnScores drawn = draw_scores(stream.generator(), row.d_k, options.trials, options.seq, margins);
  row.found = scaling_row(drawn.scores, row.d_k);
  row.errors = scaling_errors(drawn.scores, row.d_k);
  row.input_hash = drawn.input_hash;
  row.output_hash = Fingerprint().add(drawn.scores).text();
  row.peak_bytes = allocation_high_water_bytes() - before;
  row.process_peak_bytes = resource_usage().peak_bytes;
  if (margins) add_rounded_row(block, row.d_k, row.found, scaling_row(drawn.precise, row.d_k));
}

// One row of the table, from an earlier run, computed, or skipped for want of memory.
TableRow make_row(Index d_k, RowStream& stream, const ScalingOptions& options, bool margins, Block& block, const RowHooks& hooks) {
  TableRow row;
  row.d_k = d_k;
  row.stream_position = stream.position();
  if (restore(row, options, hooks.earlier)) {
    stream.pass_over(row_numbers(d_k, options));
    return row;
  }
  const auto failure = try_row(stream, row_numbers(d_k, options), [&] { compute(row, stream, options, margins, block); });
  if (failure) {
    row.status = failure->status;
    row.reason = failure->reason;
  }
  return row;
}

void add_line(Text& text, const TableRow& row) {
  text.line(fmt::format("{:>5} | ", row.d_k));
  if (row.status == Status::passed) {
    text.add(fmt::format("{:>13.1f} | {:>20.3f} | {:>18.3f}", row.found.std_of_scores, row.found.top_weight_unscaled,
                         row.found.top_weight_scaled));
  } else {
    text.add(fmt::format("{}: ", status_name(row.status))).add(row.reason, Cell::measured);
  }
}

struct SweepOptions : ScalingOptions {
  bool gradients = false;
  bool dry_run = false;
};

Report empty_report(const SweepOptions& options) {
  Report report{"scaling-sweep"};
  report.tabular = true;
  report.headings = Headings::none;
  report.args = {{"d_k", options.d_k},
                 {"trials", options.trials},
                 {"seq", options.seq},
                 {"seed", options.seed.text()},
                 {"advance", to_string(options.advance)}};
  if (options.gradients) report.args["gradients"] = true;
  return report;
}

Report dry_run(const SweepOptions& options) {
  Report report = empty_report(options);
  report.blocks.push_back(planned_scaling_block(options, options.gradients));
  return report;
}

Report run_scaling(const SweepOptions& options, Session& session) {
  Report report = empty_report(options);
  const RowHooks hooks = session.row_hooks(report);
  std::vector<Block> blocks;
  blocks.push_back(scaling_block(options, false, report.status, hooks));
  if (options.gradients) blocks.push_back(gradient_block(options, report.status, hooks));
  report.blocks = std::move(blocks);
  return report;
}

std::function<Report(Session&)> set_up_scaling(CLI::App& app) {
  const auto options = std::make_shared<SweepOptions>();
  add_sizes(app, "--d-k,--dk", options->d_k, "Widths of queries and keys");
  add_size(app, "--trials", options->trials, "Queries per row");
  add_size(app, "--seq", options->seq, "Keys per query");
  add_flag(app, "--gradients", options->gradients,
           "A second table: the softmax's Jacobian and the gradient of Q, of the same queries and keys, with standard errors");
  add_flag(app, "--dry-run", options->dry_run, "Print the rows with their operations, numbers to draw and least times; compute nothing");
  add_seed(app, options->seed);
  add_advance(app, options->advance);
  return [options](Session& session) { return options->dry_run ? dry_run(*options) : run_scaling(*options, session); };
}

}  // namespace

Block scaling_block(const ScalingOptions& options, bool margins, Status& status, const RowHooks& hooks) {
  Block block{1, "scaling", "the softmax with and without the division by sqrt(d_k)"};
  block.text.line(fmt::format("{:>5} | {:>13} | {:>20} | {:>18}", "d_k", "std of scores", "top weight, unscaled", "top weight, scaled"));
  RowStream stream(options.seed, options.advance);
  double total = 0;
  for (const Index d_k : options.d_k) total += row_numbers(d_k, options);
  double done = 0;
  for (const Index d_k : options.d_k) {
    if (hooks.next) hooks.next(fmt::format("d_k = {}", d_k), done, total);
    const TableRow row = make_row(d_k, stream, options, margins, block, hooks);
    add_line(block.text, row);
    block.rows.push_back(record_of(row, options));
    if (row.status != Status::passed) status = row.status;
    if (hooks.finished) hooks.finished(block);
    done += row_numbers(d_k, options);
  }
  return block;
}

Experiment scaling_sweep() { return {"scaling-sweep", "Why attention divides by sqrt(d_k): document 1's table", {}, set_up_scaling, true}; }

}  // namespace attn
