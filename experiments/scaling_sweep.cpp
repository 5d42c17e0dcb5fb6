#include "scaling_sweep.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "experiment.h"
#include "machine/error.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "measure/resource_usage.h"
#include "measure/statistics.h"
#include "options/options.h"
#include "report/fingerprint.h"
#include "resume.h"
#include "scaling/gradient_table.h"
#include "stream_rows.h"

namespace attn {
namespace {

// Keys are drawn and used in pieces of this many numbers (8 MiB): small beside the memory, large beside what it costs threads to meet.
constexpr Index chunk_numbers = Index{1} << 20;

void fill_entries(Generator& generator, std::span<double> out, Entries entries) {
  if (entries == Entries::normal) {
    generator.fill_standard_normal(out, threads());
  } else {
    const double end = std::sqrt(3.0);  // of an interval around 0 with variance 1
    generator.fill_uniform(out, -end, end, threads());
  }
}

// q.k in a fixed order of additions on every machine: eight running sums, as many as the widest vector holds, then their sum.
double dot(const double* q, const double* k, Index d_k) {
  constexpr Index lanes = 8;
  std::array<double, lanes> sums{};
  Index e = 0;
  for (; e + lanes <= d_k; e += lanes) {
    for (Index lane = 0; lane < lanes; ++lane) sums[static_cast<std::size_t>(lane)] += q[e + lane] * k[e + lane];
  }
  for (; e < d_k; ++e) sums[0] += q[e] * k[e];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

long double precise_dot(const double* q, const double* k, Index d_k) {
  long double sum = 0;
  for (Index e = 0; e < d_k; ++e) sum += static_cast<long double>(q[e]) * k[e];
  return sum;
}

// Bytes that a row holds at once: its queries, one piece of keys (at least one key), the scores, the latter twice with long double.
std::size_t row_bytes(Index d_k, Index trials, Index seq, bool margins) {
  const double numbers = static_cast<double>(trials) * static_cast<double>(d_k) + static_cast<double>(std::max(chunk_numbers, d_k)) +
                         static_cast<double>(trials) * static_cast<double>(seq) * (margins ? 3.0 : 1.0);
  return numbers * sizeof(double) < 9e18 ? static_cast<std::size_t>(numbers * sizeof(double)) : std::size_t{1} << 63;
}

// The largest softmax weight of row i of scores / divisor: 1 / sum_j exp((s_j - max) / divisor).
template <class T>
T top_weight(const Matrix<T>& scores, Index i, T divisor) {
  const T* row = scores.view().row(i);
  const T top = *std::max_element(row, row + scores.cols()) / divisor;
  T sum = 0;
  for (Index j = 0; j < scores.cols(); ++j) sum += std::exp(row[j] / divisor - top);
  return 1 / sum;
}

// The mean of that over the rows.
template <class T>
T mean_top_weight(const Matrix<T>& scores, T divisor) {
  T total = 0;
  for (Index i = 0; i < scores.rows(); ++i) total += top_weight(scores, i, divisor);
  return total / static_cast<T>(scores.rows());
}

double top_weight_error(const Matrix<double>& scores, double divisor) {
  std::vector<double> tops;
  for (Index i = 0; i < scores.rows(); ++i) tops.push_back(top_weight(scores, i, divisor));
  return estimate_mean(tops).standard_error;
}

void add_rounded_row(Block& block, Index d_k, const ScalingRow<double>& row, const ScalingRow<long double>& precise) {
  const auto add = [&](const char* name, double value, long double exact, int decimals) {
    block.rounded.push_back({fmt::format("{} at d_k = {}", name, d_k), value, exact, decimals});
  };
  add("std of scores", row.std_of_scores, precise.std_of_scores, 1);
  add("unscaled top weight", row.top_weight_unscaled, precise.top_weight_unscaled, 3);
  add("scaled top weight", row.top_weight_scaled, precise.top_weight_scaled, 3);
}

double row_scores(const ScalingOptions& options) { return static_cast<double>(options.trials) * static_cast<double>(options.seq); }

// How many normals a row draws.
double row_numbers(Index d_k, const ScalingOptions& options) {
  return (static_cast<double>(options.trials) + row_scores(options)) * static_cast<double>(d_k);
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
  record.exact("flops", 2 * row_scores(options) * static_cast<double>(row.d_k)).exact("flops_convention", "2 d_k per score");
  record.exact("bytes_model", sizeof(double) * (row_numbers(row.d_k, options) + row_scores(options)));
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
  require_memory(row_bytes(row.d_k, options.trials, options.seq, margins), fmt::format("scaling-sweep: d_k = {}", row.d_k));
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
  try {
    compute(row, stream, options, margins, block);
  } catch (const MemoryError& error) {
    row.status = Status::skipped;
    row.reason = error.what();
    stream.pass_over(row_numbers(d_k, options));
  }
  return row;
}

void add_line(Text& text, const TableRow& row) {
  text.line(fmt::format("{:>5} | ", row.d_k));
  if (row.status == Status::passed) {
    text.add(fmt::format("{:>13.1f} | {:>20.3f} | {:>18.3f}", row.found.std_of_scores, row.found.top_weight_unscaled,
                         row.found.top_weight_scaled));
  } else {
    text.add("skipped: ").add(row.reason, Cell::measured);
  }
}

struct SweepOptions : ScalingOptions {
  bool gradients = false;
};

Report run_scaling(const SweepOptions& options, Session& session) {
  Report report{"scaling-sweep"};
  report.tabular = true;
  report.headings = Headings::none;
  report.args = {{"d_k", options.d_k},
                 {"trials", options.trials},
                 {"seq", options.seq},
                 {"seed", options.seed.text()},
                 {"advance", to_string(options.advance)}};
  if (options.gradients) report.args["gradients"] = true;
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
  app.add_flag("--gradients", options->gradients,
               "A second table: the softmax's Jacobian and the gradient of Q, of the same queries and keys, with standard errors");
  add_seed(app, options->seed);
  add_advance(app, options->advance);
  return [options](Session& session) { return run_scaling(*options, session); };
}

}  // namespace

DrawnScores draw_scores(Generator& generator, Index d_k, Index trials, Index seq, bool precisely, Entries entries) {
  Fingerprint inputs;
  Matrix<double> q(trials, d_k);
  fill_entries(generator, {q.data(), static_cast<std::size_t>(q.size())}, entries);
  inputs.add(q);
  const Index keys = trials * seq;
  Matrix<double> k(std::min(keys, std::max(Index{1}, chunk_numbers / d_k)), d_k);
  DrawnScores drawn{Matrix<double>(trials, seq), precisely ? Matrix<long double>(trials, seq) : Matrix<long double>(), {}};
  for (Index first = 0; first < keys; first += k.rows()) {
    const Index count = std::min(k.rows(), keys - first);
    fill_entries(generator, {k.data(), static_cast<std::size_t>(count * d_k)}, entries);
    inputs.add(k.data(), static_cast<std::size_t>(count * d_k) * sizeof(double));
#pragma omp parallel for num_threads(threads()) if (count * d_k >= chunk_numbers / 2)
    for (Index j = 0; j < count; ++j) {
      const double* query = q.view().row((first + j) / seq);
      drawn.scores.data()[first + j] = dot(query, k.view().row(j), d_k);
      if (precisely) drawn.precise.data()[first + j] = precise_dot(query, k.view().row(j), d_k);
    }
  }
  drawn.input_hash = inputs.text();
  return drawn;
}

template <class T>
ScalingRow<T> scaling_row(const Matrix<T>& scores, Index d_k) {
  const auto count = static_cast<T>(scores.size());
  T sum = 0;
  for (Index i = 0; i < scores.size(); ++i) sum += scores.data()[i];
  const T mean = sum / count;
  T squares = 0;
  for (Index i = 0; i < scores.size(); ++i) squares += (scores.data()[i] - mean) * (scores.data()[i] - mean);
  const T root = std::sqrt(static_cast<T>(d_k));
  return {std::sqrt(squares / count), mean_top_weight(scores, T{1}), mean_top_weight(scores, root)};
}

template ScalingRow<double> scaling_row(const Matrix<double>&, Index);
template ScalingRow<long double> scaling_row(const Matrix<long double>&, Index);

ScalingRow<double> scaling_errors(const Matrix<double>& scores, Index d_k) {
  double mean = 0;
  for (Index i = 0; i < scores.size(); ++i) mean += scores.data()[i] / static_cast<double>(scores.size());
  std::vector<double> squares;  // per trial: one query's scores depend on one another
  for (Index i = 0; i < scores.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < scores.cols(); ++j) sum += (scores(i, j) - mean) * (scores(i, j) - mean);
    squares.push_back(sum / static_cast<double>(scores.cols()));
  }
  const MeanEstimate variance = estimate_mean(squares);
  const double root = std::sqrt(static_cast<double>(d_k));
  const double std_error = variance.mean > 0 ? variance.standard_error / (2 * std::sqrt(variance.mean)) : 0;
  return {std_error, top_weight_error(scores, 1), top_weight_error(scores, root)};
}

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
