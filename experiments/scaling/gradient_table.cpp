#include "scaling/gradient_table.h"

#include <algorithm>
#include <cmath>

#include "machine/error.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "report/uncertainty.h"
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

std::uint64_t row_bytes(Index d_k, Index trials, Index seq) {
  const double width = static_cast<double>(d_k);
  const double piece = std::max(static_cast<double>(piece_numbers), width * static_cast<double>(seq));
  const double bytes = sizeof(double) * (2 * static_cast<double>(trials) * width + 2 * piece);
  return bytes < 9e18 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 63;
}

Row begin_row(const Json& position, Index d_k, double scale, const ScalingOptions& options) {
  Row row;
  row.exact("head_dim", d_k).exact("softmax_scale", scale).exact("trials", options.trials).exact("seq_k", options.seq);
  row.exact("seed", options.seed.text()).exact("stream_position", position);
  row.exact("repro", fmt::format("attn scaling-sweep --gradients --d-k {} --trials {} --seq {} --seed {} --advance {}", d_k, options.trials,
                                 options.seq, options.seed.text(), position.is_string() ? position.get<std::string>() : position.dump()));
  return row;
}

// One line of text and one record.
void add_row(Block& block, const Json& position, const GradientRow& row, const ScalingOptions& options) {
  const auto cell = [](const MeanEstimate& estimate) {
    return estimate.standard_error > 0 ? with_uncertainty(estimate.mean, estimate.standard_error) : fmt::format("{:.4g}", estimate.mean);
  };
  const MeanEstimate percent{100 * row.flat_rows.mean, 100 * row.flat_rows.standard_error};
  block.text.line(fmt::format("{:>5} | {:<13} | {:>15} | {:>15} | {:>13} | {:>13} | {:>10.2g}", row.d_k,
                              row.scale == 1 ? "scores" : "scores / √d_k", cell(row.jacobian_norm), cell(row.largest_entry), cell(percent),
                              cell(row.query_gradient), row.query_gradient_median));
  Row record = begin_row(position, row.d_k, row.scale, options);
  const auto add = [&record](const std::string& name, const MeanEstimate& estimate) {
    record.exact(name, estimate.mean).exact(name + "_error", estimate.standard_error);
  };
  add("jacobian_norm", row.jacobian_norm);
  add("largest_entry", row.largest_entry);
  add("flat_rows", row.flat_rows);
  add("query_gradient", row.query_gradient);
  record.exact("query_gradient_median", row.query_gradient_median).exact("status", "passed");
  block.rows.push_back(std::move(record));
}

// The stream of values and upstream gradients, at the place where `stream` stands.
Generator beside(const ScalingOptions& options, const Generator& stream) {
  Generator generator = default_rng(Seed::list({options.seed, Seed(1)}));
  generator.advance(stream.position());
  return generator;
}

void add_d_k(Block& block, RowStream& stream, Index d_k, const ScalingOptions& options, Status& status) {
  const Json position = stream.position();
  try {
    require_memory(row_bytes(d_k, options.trials, options.seq), fmt::format("scaling-sweep: gradients: d_k = {}", d_k));
    Generator others = beside(options, stream.generator());
    const GradientPair pair = gradient_rows(stream.generator(), others, d_k, options.trials, options.seq);
    add_row(block, position, pair.unscaled, options);
    add_row(block, position, pair.scaled, options);
  } catch (const MemoryError& error) {
    block.text.line(fmt::format("{:>5} | skipped: ", d_k)).add(error.what(), Cell::measured);
    block.rows.push_back(begin_row(position, d_k, 1, options).exact("status", "skipped").measured("reason", error.what()));
    status = Status::skipped;
    stream.pass_over(static_cast<double>(options.trials) * static_cast<double>(d_k) * (1 + static_cast<double>(options.seq)));
  }
}

}  // namespace

GradientPair gradient_rows(Generator& queries_and_keys, Generator& values_and_upstream, Index d_k, Index trials, Index seq,
                           const GradientKernels& kernels) {
  Draws draws(d_k, trials, seq);
  fill(queries_and_keys, draws.q, trials);
  fill_upstream(values_and_upstream, draws.upstream);
  const double scale = kernels.scale(d_k);
  GradientSamples unscaled, scaled;
  const Index piece = draws.k.rows() / seq;
  for (Index first = 0; first < trials; first += piece) {
    const Index count = std::min(piece, trials - first);
    fill(queries_and_keys, draws.k, count * seq);
    fill(values_and_upstream, draws.v, count * seq);
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
  return {unscaled.row(d_k, 1), scaled.row(d_k, scale)};
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

Block gradient_block(const ScalingOptions& options, Status& status, const std::function<void(const Block&)>& finished) {
  Block block{1, "gradients", "the softmax's Jacobian and the gradient of Q"};
  block.text.line().line(fmt::format("{:>5} | {:<13} | {:>15} | {:>15} | {:>13} | {:>13} | {:>10}", "d_k", "softmax of", "Jacobian's norm",
                                     "largest entry", "% below 0.001", "gradient of q", "its median"));
  RowStream stream(options.seed, options.advance);
  for (const Index d_k : options.d_k) {
    add_d_k(block, stream, d_k, options, status);
    if (finished) finished(block);
  }
  return block;
}

}  // namespace attn
