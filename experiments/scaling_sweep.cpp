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
#include "options/options.h"
#include "scaling/gradient_table.h"
#include "stream_rows.h"

namespace attn {
namespace {

// Keys are drawn and used in pieces of this many numbers (8 MiB): small beside the memory, large beside what it costs threads to meet.
constexpr Index chunk_numbers = Index{1} << 20;

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

// The mean over rows of (rows, seq) of the largest softmax weight of scores * scale: 1 / sum_j exp((s_j - max) * scale).
template <class T>
T mean_top_weight(const std::vector<T>& scores, Index seq, T divisor) {
  T total = 0;
  for (auto row = scores.begin(); row != scores.end(); row += seq) {
    const T top = *std::max_element(row, row + seq) / divisor;
    T sum = 0;
    for (Index j = 0; j < seq; ++j) sum += std::exp(row[j] / divisor - top);
    total += 1 / sum;
  }
  return total / static_cast<T>(static_cast<Index>(scores.size()) / seq);
}

void add_rounded_row(Block& block, Index d_k, const ScalingRow<double>& row, const ScalingRow<long double>& precise) {
  const auto add = [&](const char* name, double value, long double exact, int decimals) {
    block.rounded.push_back({fmt::format("{} at d_k = {}", name, d_k), value, exact, decimals});
  };
  add("std of scores", row.std_of_scores, precise.std_of_scores, 1);
  add("unscaled top weight", row.top_weight_unscaled, precise.top_weight_unscaled, 3);
  add("scaled top weight", row.top_weight_scaled, precise.top_weight_scaled, 3);
}

// What a row is: its parameters, and where in the stream it began.
Row begin_row(const RowStream& stream, Index d_k, const ScalingOptions& options) {
  Row row;
  row.exact("head_dim", d_k).exact("trials", options.trials).exact("seq_k", options.seq);
  row.exact("seed", options.seed.text()).exact("stream_position", stream.position());
  const Json position = stream.position();
  row.exact("repro", fmt::format("attn scaling-sweep --d-k {} --trials {} --seq {} --seed {} --advance {}", d_k, options.trials,
                                 options.seq, options.seed.text(), position.is_string() ? position.get<std::string>() : position.dump()));
  return row;
}

// Draws and computes one row of the table.
void add_row(Block& block, RowStream& stream, Index d_k, const ScalingOptions& options, bool margins) {
  Row out = begin_row(stream, d_k, options);
  std::vector<long double> precise;
  const std::vector<double> scores = draw_scores(stream.generator(), d_k, options.trials, options.seq, margins ? &precise : nullptr);
  const ScalingRow<double> row = scaling_row(scores, d_k, options.seq);
  block.text.line(
      fmt::format("{:>5} | {:>13.1f} | {:>20.3f} | {:>18.3f}", d_k, row.std_of_scores, row.top_weight_unscaled, row.top_weight_scaled));
  out.exact("std_of_scores", row.std_of_scores).exact("top_weight_unscaled", row.top_weight_unscaled);
  out.exact("top_weight_scaled", row.top_weight_scaled).exact("status", "passed");
  if (margins) add_rounded_row(block, d_k, row, scaling_row(precise, d_k, options.seq));
  block.rows.push_back(std::move(out));
}

// How many normals a row draws.
double row_numbers(Index d_k, const ScalingOptions& options) {
  return static_cast<double>(options.trials) * static_cast<double>(d_k) * (1 + static_cast<double>(options.seq));
}

void add_skipped_row(Block& block, const RowStream& stream, Index d_k, const ScalingOptions& options, const std::string& reason) {
  block.text.line(fmt::format("{:>5} | skipped: ", d_k)).add(reason, Cell::measured);
  block.rows.push_back(begin_row(stream, d_k, options).exact("status", "skipped").measured("reason", reason));
}

struct SweepOptions : ScalingOptions {
  bool gradients = false;
};

Report run_scaling(const SweepOptions& options, Session& session) {
  Report report{"scaling-sweep"};
  report.tabular = true;
  report.headings = Headings::none;
  report.args = {{"d_k", options.d_k}, {"trials", options.trials}, {"seq", options.seq}, {"seed", options.seed.text()}};
  if (options.gradients) report.args["gradients"] = true;
  const auto publish = [&](std::size_t place) {
    return [&report, &session, place](const Block& block) {
      report.blocks.resize(place);
      report.blocks.push_back(block);
      session.publish(report);
    };
  };
  report.blocks = {scaling_block(options, false, report.status, publish(0))};
  if (options.gradients) {
    Block gradients = gradient_block(options, report.status, publish(1));
    report.blocks.resize(1);
    report.blocks.push_back(std::move(gradients));
  }
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

std::vector<double> draw_scores(Generator& generator, Index d_k, Index trials, Index seq, std::vector<long double>* precise) {
  Matrix<double> q(trials, d_k);
  generator.fill_standard_normal({q.data(), static_cast<std::size_t>(q.size())}, threads());
  const Index keys = trials * seq;
  Matrix<double> k(std::min(keys, std::max(Index{1}, chunk_numbers / d_k)), d_k);
  std::vector<double> scores(static_cast<std::size_t>(keys));
  if (precise != nullptr) precise->resize(scores.size());
  for (Index first = 0; first < keys; first += k.rows()) {
    const Index count = std::min(k.rows(), keys - first);
    generator.fill_standard_normal({k.data(), static_cast<std::size_t>(count * d_k)}, threads());
#pragma omp parallel for num_threads(threads()) if (count * d_k >= chunk_numbers / 2)
    for (Index j = 0; j < count; ++j) {
      const auto at = static_cast<std::size_t>(first + j);
      const double* query = q.view().row((first + j) / seq);
      scores[at] = dot(query, k.view().row(j), d_k);
      if (precise != nullptr) (*precise)[at] = precise_dot(query, k.view().row(j), d_k);
    }
  }
  return scores;
}

template <class T>
ScalingRow<T> scaling_row(const std::vector<T>& scores, Index d_k, Index seq) {
  const auto count = static_cast<T>(scores.size());
  T sum = 0;
  for (const T score : scores) sum += score;
  const T mean = sum / count;
  T squares = 0;
  for (const T score : scores) squares += (score - mean) * (score - mean);
  const T root = std::sqrt(static_cast<T>(d_k));
  return {std::sqrt(squares / count), mean_top_weight(scores, seq, T{1}), mean_top_weight(scores, seq, root)};
}

template ScalingRow<double> scaling_row(const std::vector<double>&, Index, Index);
template ScalingRow<long double> scaling_row(const std::vector<long double>&, Index, Index);

Block scaling_block(const ScalingOptions& options, bool margins, Status& status, const std::function<void(const Block&)>& finished) {
  Block block{1, "scaling", "the softmax with and without the division by sqrt(d_k)"};
  block.text.line(fmt::format("{:>5} | {:>13} | {:>20} | {:>18}", "d_k", "std of scores", "top weight, unscaled", "top weight, scaled"));
  RowStream stream(options.seed, options.advance);
  for (const Index d_k : options.d_k) {
    try {
      require_memory(row_bytes(d_k, options.trials, options.seq, margins), fmt::format("scaling-sweep: d_k = {}", d_k));
      add_row(block, stream, d_k, options, margins);
    } catch (const MemoryError& error) {
      add_skipped_row(block, stream, d_k, options, error.what());
      status = Status::skipped;
      stream.pass_over(row_numbers(d_k, options));
    }
    if (finished) finished(block);
  }
  return block;
}

Experiment scaling_sweep() { return {"scaling-sweep", "Why attention divides by sqrt(d_k): document 1's table", {}, set_up_scaling}; }

}  // namespace attn
