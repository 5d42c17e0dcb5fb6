#include "scaling/gradient_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "machine/allocation.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "report/fingerprint.h"
#include "report/uncertainty.h"
#include "resume.h"
#include "scaling/scaling_plan.h"
#include "stream_rows.h"

namespace attn {
namespace {

// Keys and values are drawn in pieces of whole trials with about this many numbers (8 MiB), as the plain table draws keys.
constexpr Index piece_numbers = Index{1} << 20;

Index trials_per_piece(Index d_k, Index trials, Index seq) { return std::clamp(piece_numbers / (d_k * seq), Index{1}, trials); }

// Samples of one scale: a value per trial.
struct GradientSamples {
  std::vector<double> norm, largest, flat, query;

  void add(const QueryGradients& gradients) {
    norm.push_back(gradients.jacobian.norm);
    largest.push_back(gradients.jacobian.largest);
    flat.push_back(gradients.jacobian.largest < flat_entry ? 1 : 0);
    double squares = 0;
    for (const double x : gradients.query) squares += x * x;
    query.push_back(std::sqrt(squares));
  }

  GradientRow row(Index d_k, double scale) const {
    return {d_k, scale, estimate_mean(norm), estimate_mean(largest), estimate_mean(flat), estimate_mean(query), median(query)};
  }
};

// Queries and upstream gradients of all trials (trials, d); keys and values of one piece of trials (piece * seq, d).
struct Draws {
  Draws(Index d_k, Index trials, Index seq)
      : q(trials, d_k), upstream(trials, d_k), k(trials_per_piece(d_k, trials, seq) * seq, d_k), v(k.rows(), d_k) {}

  Matrix<double> q, upstream, k, v;
};

void fill(Generator& generator, Matrix<double>& matrix, Index rows) {
  generator.fill_standard_normal({matrix.data(), static_cast<std::size_t>(rows * matrix.cols())}, threads());
}

// Upstream gradients of length about 1.
void fill_upstream(Generator& generator, Matrix<double>& upstream) {
  fill(generator, upstream, upstream.rows());
  const double length = std::sqrt(static_cast<double>(upstream.cols()));
  std::transform(upstream.data(), upstream.data() + upstream.size(), upstream.data(), [length](double x) { return x / length; });
}

std::uint64_t held_bytes(Index d_k, Index trials, Index seq) {
  const double width = static_cast<double>(d_k);
  const double piece = std::max(static_cast<double>(piece_numbers), width * static_cast<double>(seq));
  const double bytes = sizeof(double) * (2 * static_cast<double>(trials) * width + 2 * piece);
  return bytes < 9e18 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 63;
}

// The names and members of what a row found.
constexpr std::pair<const char*, MeanEstimate GradientRow::*> estimates[] = {{"jacobian_norm", &GradientRow::jacobian_norm},
                                                                             {"largest_entry", &GradientRow::largest_entry},
                                                                             {"flat_rows", &GradientRow::flat_rows},
                                                                             {"query_gradient", &GradientRow::query_gradient}};

Row parameters_of(const Json& position, Index d_k, double scale, const ScalingOptions& options) {
  Row row;
  row.exact("head_dim", d_k).exact("softmax_scale", scale).exact("trials", options.trials).exact("seq_k", options.seq);
  return row.exact("dtype", "f64").exact("seed", options.seed.text()).exact("stream_position", position);
}

Row begin_row(const Json& position, Index d_k, double scale, const ScalingOptions& options) {
  Row row = parameters_of(position, d_k, scale, options);
  row.exact("repro", fmt::format("attn scaling-sweep --gradients --d-k {} --trials {} --seq {} --seed {} --advance {}", d_k, options.trials,
                                 options.seq, options.seed.text(), advance_text(position)));
  return row.exact("flops", gradient_flops(d_k, options)).exact("flops_convention", "6 d_k per score");
}

void add_line(Text& text, const GradientRow& row) {
  const auto cell = [](const MeanEstimate& estimate) {
    return estimate.standard_error > 0 ? with_uncertainty(estimate.mean, estimate.standard_error) : fmt::format("{:.4g}", estimate.mean);
  };
  const MeanEstimate percent{100 * row.flat_rows.mean, 100 * row.flat_rows.standard_error};
  text.line(fmt::format("{:>5} | {:<13} | {:>15} | {:>15} | {:>13} | {:>13} | {:>10.2g}", row.d_k,
                        row.scale == 1 ? "scores" : "scores / √d_k", cell(row.jacobian_norm), cell(row.largest_entry), cell(percent),
                        cell(row.query_gradient), row.query_gradient_median));
}

// One line of text and one record.
void add_row(Block& block, const Json& position, const GradientRow& row, const GradientPair& pair, const ScalingOptions& options) {
  add_line(block.text, row);
  Row record = begin_row(position, row.d_k, row.scale, options);
  record.measured("peak_bytes", pair.peak_bytes).exact("input_hash", pair.input_hash);
  for (const auto& [name, member] : estimates) {
    record.exact(name, (row.*member).mean).exact(std::string(name) + "_error", (row.*member).standard_error);
  }
  record.exact("query_gradient_median", row.query_gradient_median).exact("status", "passed");
  block.rows.push_back(std::move(record));
}

// True where an earlier run has the row, which is filled in.
bool restore(GradientRow& row, GradientPair& pair, const Json& position, const ScalingOptions& options, const std::vector<Json>& earlier) {
  const Json* found = find_row(earlier, "gradients", parameters_of(position, row.d_k, row.scale, options));
  if (found == nullptr) return false;
  for (const auto& [name, member] : estimates) row.*member = {found->at(name), found->at(std::string(name) + "_error")};
  row.query_gradient_median = found->at("query_gradient_median");
  pair.input_hash = found->at("input_hash");
  pair.peak_bytes = found->at("peak_bytes");
  return true;
}

// The stream of values and upstream gradients, at the place where `stream` stands.
Generator beside(const ScalingOptions& options, const Generator& stream) {
  Generator generator = default_rng(Seed::list({options.seed, Seed(1)}));
  generator.advance(stream.position());
  return generator;
}

GradientPair make_pair(RowStream& stream, Index d_k, const ScalingOptions& options, const std::vector<Json>& earlier) {
  GradientPair pair;
  pair.unscaled.d_k = pair.scaled.d_k = d_k;
  pair.scaled.scale = GradientKernels().scale(d_k);
  const Json position = stream.position();
  if (restore(pair.unscaled, pair, position, options, earlier) && restore(pair.scaled, pair, position, options, earlier)) {
    stream.pass_over(row_numbers(d_k, options));
    return pair;
  }
  require_memory(held_bytes(d_k, options.trials, options.seq), fmt::format("scaling-sweep: gradients: d_k = {}", d_k));
  Generator others = beside(options, stream.generator());
  return gradient_rows(stream.generator(), others, d_k, options.trials, options.seq);
}

void add_d_k(Block& block, RowStream& stream, Index d_k, const ScalingOptions& options, Status& status, const std::vector<Json>& earlier) {
  const Json position = stream.position();
  GradientPair pair;
  const auto failure = try_row(stream, row_numbers(d_k, options), [&] { pair = make_pair(stream, d_k, options, earlier); });
  if (!failure) {
    add_row(block, position, pair.unscaled, pair, options);
    add_row(block, position, pair.scaled, pair, options);
    return;
  }
  const std::string_view name = status_name(failure->status);
  block.text.line(fmt::format("{:>5} | {}: ", d_k, name)).add(failure->reason, Cell::measured);
  block.rows.push_back(begin_row(position, d_k, 1, options).exact("status", name).measured("reason", failure->reason));
  status = failure->status;
}

}  // namespace

GradientPair gradient_rows(Generator& queries_and_keys, Generator& values_and_upstream, Index d_k, Index trials, Index seq,
                           const GradientKernels& kernels) {
  const std::size_t before = allocated_bytes();
  Draws draws(d_k, trials, seq);
  const std::size_t peak_bytes = allocated_bytes() - before;
  fill(queries_and_keys, draws.q, trials);
  fill_upstream(values_and_upstream, draws.upstream);
  Fingerprint inputs;
  inputs.add(draws.q).add(draws.upstream);
  const double scale = kernels.scale(d_k);
  GradientSamples unscaled, scaled;
  const Index piece = draws.k.rows() / seq;
  for (Index first = 0; first < trials; first += piece) {
    const Index count = std::min(piece, trials - first);
    fill(queries_and_keys, draws.k, count * seq);
    fill(values_and_upstream, draws.v, count * seq);
    for (const Matrix<double>* drawn : {&draws.k, &draws.v}) {
      inputs.add(drawn->data(), static_cast<std::size_t>(count * seq * d_k) * sizeof(double));
    }
    for (Index t = 0; t < count; ++t) {
      const auto width = static_cast<std::size_t>(d_k);
      const GradientProblem problem{{draws.q.view().row(first + t), width},
                                    draws.k.view().block(t * seq, 0, seq, d_k),
                                    draws.v.view().block(t * seq, 0, seq, d_k),
                                    {draws.upstream.view().row(first + t), width}};
      unscaled.add(query_gradients(problem, 1, kernels));
      scaled.add(query_gradients(problem, scale, kernels));
    }
  }
  return {unscaled.row(d_k, 1), scaled.row(d_k, scale), inputs.text(), peak_bytes};
}

std::vector<GradientPair> gradient_pairs(const ScalingOptions& options, const GradientKernels& kernels) {
  Generator stream = default_rng(options.seed);
  stream.advance(options.advance);
  std::vector<GradientPair> pairs;
  for (const Index d_k : options.d_k) {
    Generator others = beside(options, stream);
    pairs.push_back(gradient_rows(stream, others, d_k, options.trials, options.seq, kernels));
  }
  return pairs;
}

Block gradient_block(const ScalingOptions& options, Status& status, const RowHooks& hooks) {
  Block block{1, "gradients", "the softmax's Jacobian and the gradient of Q"};
  block.text.line().line(fmt::format("{:>5} | {:<13} | {:>15} | {:>15} | {:>13} | {:>13} | {:>10}", "d_k", "softmax of", "Jacobian's norm",
                                     "largest entry", "% below 0.001", "gradient of q", "its median"));
  RowStream stream(options.seed, options.advance);
  double total = 0;
  for (const Index d_k : options.d_k) total += row_numbers(d_k, options);
  double done = 0;
  for (const Index d_k : options.d_k) {
    if (hooks.next) hooks.next(fmt::format("gradients, d_k = {}", d_k), done, total);
    add_d_k(block, stream, d_k, options, status, hooks.earlier);
    if (hooks.finished) hooks.finished(block);
    done += row_numbers(d_k, options);
  }
  return block;
}

}  // namespace attn
