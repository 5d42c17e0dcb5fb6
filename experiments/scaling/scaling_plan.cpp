#include "scaling/scaling_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "measure/clock.h"
#include "numpy/generator.h"
#include "timing/measuring_options.h"

namespace attn {
namespace {

// Seconds per normal, the best of a few draws.
double measure_draw_s(const Seed& seed) {
  constexpr int tries = 3;
  std::vector<double> normals(1'000'000);
  Generator generator = default_rng(seed);
  double shortest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    const std::int64_t start = steady_now_ns();
    generator.fill_standard_normal(normals);
    shortest_s = std::min(shortest_s, 1e-9 * static_cast<double>(steady_now_ns() - start));
  }
  return shortest_s / static_cast<double>(normals.size());
}

// What one row would take.
struct ScalingPlan {
  const char* what;
  double flops;
  double numbers;
  double bytes;
};

void add_planned(Block& block, Index d_k, const ScalingPlan& row, double seconds, const ScalingOptions& options) {
  block.text.line(
      fmt::format("{:>5} | {:<9} | {:>10.4f} | {:>13.0f} | {:>10.1f} | ", d_k, row.what, row.flops / 1e9, row.numbers, row.bytes / 1e6));
  block.text.add(fmt::format("{:>12.2f}", 1e3 * seconds), Cell::measured);
  Row record;
  record.exact("what", row.what).exact("head_dim", d_k).exact("trials", options.trials).exact("seq_k", options.seq).exact("dtype", "f64");
  record.exact("flops", row.flops).exact("bytes_model", row.bytes).exact("normals", row.numbers).measured("predicted_s", seconds);
  block.rows.push_back(std::move(record));
}

}  // namespace

double row_scores(const ScalingOptions& options) { return static_cast<double>(options.trials) * static_cast<double>(options.seq); }

double row_numbers(Index d_k, const ScalingOptions& options) {
  return (static_cast<double>(options.trials) + row_scores(options)) * static_cast<double>(d_k);
}

double row_flops(Index d_k, const ScalingOptions& options) { return 2 * row_scores(options) * static_cast<double>(d_k); }

double gradient_flops(Index d_k, const ScalingOptions& options) { return 3 * row_flops(d_k, options); }

double row_bytes(Index d_k, const ScalingOptions& options) { return sizeof(double) * (row_numbers(d_k, options) + row_scores(options)); }

Block planned_scaling_block(const ScalingOptions& options, bool gradients) {
  Block block{0, "plan", "what would be computed"};
  const double flops_per_s = 1e9 * arithmetic_ceilings({Precision::f64}).f64_all_threads.gflops;
  const double draw_s = measure_draw_s(options.seed);
  block.text.line(fmt::format("{:>5} | {:<9} | {:>10} | {:>13} | {:>10} | {:>12}", "d_k", "what", "GFLOP", "normals drawn", "model MB",
                              "at least, ms"));
  for (const Index d_k : options.d_k) {
    std::vector<ScalingPlan> rows = {{"scores", row_flops(d_k, options), row_numbers(d_k, options), row_bytes(d_k, options)}};
    if (gradients)
      rows.push_back({"gradients", 2 * gradient_flops(d_k, options), 2 * row_numbers(d_k, options), 2 * row_bytes(d_k, options)});
    for (const ScalingPlan& row : rows) add_planned(block, d_k, row, row.numbers * draw_s + row.flops / flops_per_s, options);
  }
  return block;
}

}  // namespace attn
