// The claims about scores and their softmax: verdicts as functions of numbers, and faults in the computation that change them.
#include <algorithm>
#include <cmath>

#include "attention/softmax.h"
#include "catch.h"
#include "claims/saturation.h"
#include "claims/spread.h"
#include "claims/vanishing.h"

using namespace attn;

namespace {

// Document 1's table, with fewer widths where a test need not be as long.
ScalingOptions table() {
  ScalingOptions options;
  options.d_k = {4, 64, 1024};
  options.trials = 400;
  return options;
}

ClaimVerdict verdict_of_spread(const ScoreSource& source) { return judge_spread(measure_spread(table(), source)).verdict; }

SaturationPoint saturated(Index d_k, double top, double error, double above) { return {d_k, {top, error}, {0, 0}, {above, 0}}; }

SaturationSweep sweep_of(double top, double error, double above, double scaled_above) {
  return {{saturated(4, 0.5, 0.01, 0), saturated(1024, top, error, above)},
          {saturated(4, 0.3, 0.01, 0), saturated(1024, 0.32, 0.01, scaled_above)},
          {0.32, 0}};
}

ClaimVerdict constant_verdict(const std::vector<double>& tops, double limit) {
  SaturationSweep sweep;
  for (const double top : tops) sweep.scaled.push_back(saturated(4, top, 0.002, 0));
  sweep.limit = {limit, 0.0002};
  return judge_scaled_constant(sweep).verdict;
}

GradientPair gradients_of(double flat, double scaled_flat, double query, double scaled_query) {
  GradientPair pair;
  pair.unscaled.flat_rows.mean = flat;
  pair.unscaled.query_gradient.mean = query;
  pair.scaled.flat_rows.mean = scaled_flat;
  pair.scaled.query_gradient.mean = scaled_query;
  return pair;
}

ClaimVerdict gradients_verdict(const GradientPair& largest) { return judge_gradients({gradients_of(0, 0, 1, 1), largest}).verdict; }

Matrix<double> scaled_scores(Matrix<double> scores, double scale) {
  for (Index i = 0; i < scores.size(); ++i) scores.data()[i] *= scale;
  return scores;
}

void softmax_with_scale(const double* scores, double scale, double* weights, Index seq) {
  std::transform(scores, scores + seq, weights, [scale](double s) { return s * scale; });
  softmax_row(weights, weights, seq);
}

}  // namespace

TEST_CASE("spread: the verdict goes by standard errors at the worst width, then by 5 %", "[claims]") {
  using P = SpreadPoint;
  const auto verdict = [](double std, double error) {
    return judge_spread({P{Entries::normal, 4, {2.001, 0.01}}, P{Entries::uniform, 64, {std, error}}}).verdict;
  };
  CHECK(verdict(8.0, 0.1) == ClaimVerdict::holds);
  CHECK(verdict(8.29, 0.1) == ClaimVerdict::holds);
  CHECK(verdict(7.71, 0.1) == ClaimVerdict::holds);
  CHECK(verdict(8.31, 0.1) == ClaimVerdict::in_part);
  CHECK(verdict(7.69, 0.1) == ClaimVerdict::in_part);
  CHECK(verdict(8.41, 0.1) == ClaimVerdict::does_not_hold);
  CHECK(verdict(8.41, 1.0) == ClaimVerdict::holds);
}

TEST_CASE("spread holds for the scores, and a fault in them changes the verdict", "[claims]") {
  CHECK(verdict_of_spread({}) == ClaimVerdict::holds);
  // Divided by sqrt(d_k), as attention does it.
  CHECK(verdict_of_spread([](Generator& generator, Index d_k, Index trials, Index seq, Entries entries) {
          return scaled_scores(draw_scores(generator, d_k, trials, seq, false, entries).scores, 1 / std::sqrt(static_cast<double>(d_k)));
        }) == ClaimVerdict::does_not_hold);
  // One entry too few in every sum.
  CHECK(verdict_of_spread([](Generator& generator, Index d_k, Index trials, Index seq, Entries entries) {
          return draw_scores(generator, d_k - 1, trials, seq, false, entries).scores;
        }) == ClaimVerdict::does_not_hold);
}

TEST_CASE("spread: the standard error covers what other seeds give", "[claims]") {
  // Of the distances of 60 samples, in standard errors, about 4.6 % exceed 2 and none 4.
  ScalingOptions options = table();
  options.d_k = {4, 16, 64};
  Index beyond_two = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    options.seed = Seed(seed);
    for (const SpreadPoint& point : measure_spread(options)) {
      CHECK(std::abs(point.distance()) < 4);
      if (std::abs(point.distance()) > 2) ++beyond_two;
    }
  }
  CHECK(beyond_two <= 9);  // P(more) = 0.0005 of a binomial with 60 and 0.046
  CHECK(beyond_two >= 1);  // P(none) = 0.06
}

TEST_CASE("saturation: the verdict goes by the largest width, scaled and not", "[claims]") {
  CHECK(judge_saturation(sweep_of(0.97, 0.003, 0.8, 0)).verdict == ClaimVerdict::holds);
  CHECK(judge_saturation(sweep_of(0.97, 0.01, 0.8, 0)).verdict == ClaimVerdict::in_part);
  CHECK(judge_saturation(sweep_of(0.97, 0.003, 0.4, 0)).verdict == ClaimVerdict::in_part);
  CHECK(judge_saturation(sweep_of(0.79, 0.003, 0.4, 0)).verdict == ClaimVerdict::does_not_hold);
  CHECK(judge_saturation(sweep_of(0.97, 0.003, 0.8, 0.02)).verdict == ClaimVerdict::does_not_hold);
}

TEST_CASE("saturation holds, and faults in the scale change the verdict", "[claims]") {
  ScalingOptions options;  // as many trials as in document 1
  options.d_k = {4, 1024};
  const auto verdict = [&](const ScaledSoftmax& softmax) { return judge_saturation(measure_saturation(options, 1000, softmax)).verdict; };
  CHECK(verdict({}) == ClaimVerdict::holds);
  CHECK(verdict([](const double* scores, double, double* weights, Index seq) { softmax_with_scale(scores, 1, weights, seq); }) ==
        ClaimVerdict::does_not_hold);  // never scaled
  CHECK(verdict([](const double* scores, double, double* weights, Index seq) { softmax_with_scale(scores, 1 / 32.0, weights, seq); }) ==
        ClaimVerdict::does_not_hold);  // always scaled
}

TEST_CASE("scaled-constant: the verdict goes by the distance from the limit and from 0.32", "[claims]") {
  CHECK(constant_verdict({0.318, 0.320, 0.321}, 0.3195) == ClaimVerdict::holds);
  CHECK(constant_verdict({0.304, 0.320, 0.321}, 0.3195) == ClaimVerdict::in_part);
  CHECK(constant_verdict({0.304, 0.305, 0.321}, 0.3195) == ClaimVerdict::does_not_hold);
  CHECK(constant_verdict({0.284, 0.320, 0.321}, 0.3195) == ClaimVerdict::does_not_hold);
  CHECK(constant_verdict({0.340, 0.340, 0.340}, 0.340) == ClaimVerdict::in_part);  // constant, but at another value
  CHECK(constant_verdict({0.360, 0.360, 0.360}, 0.360) == ClaimVerdict::does_not_hold);
}

TEST_CASE("scaled-constant holds in part on document 1's table, and faults in the scale change the verdict", "[claims]") {
  const auto verdict = [](const ScaledSoftmax& softmax) {
    ScalingOptions options;
    options.d_k = {4, 16, 64, 256};
    return judge_scaled_constant(measure_saturation(options, 100000, softmax)).verdict;
  };
  CHECK(verdict({}) == ClaimVerdict::in_part);
  CHECK(verdict([](const double* scores, double scale, double* weights, Index seq) {
          softmax_with_scale(scores, scale * scale, weights, seq);  // applied twice
        }) == ClaimVerdict::does_not_hold);
  CHECK(verdict([](const double* scores, double, double* weights, Index seq) { softmax_with_scale(scores, 1, weights, seq); }) ==
        ClaimVerdict::does_not_hold);
}

TEST_CASE("scaled-constant: the limit is the mean top weight of ten standard normal scores", "[claims]") {
  // NumPy 2.4.6, default_rng(1), 10^7 draws: 0.320319 with standard error 0.000034.
  ScalingOptions options;
  options.d_k = {4};
  options.trials = 2;
  const MeanEstimate limit = measure_saturation(options, 200000).limit;
  CHECK(std::abs(limit.mean - 0.320319) < 4 * std::hypot(limit.standard_error, 0.000034));
  CHECK(limit.standard_error < 0.0004);
}

TEST_CASE("saturation: entropy and shares of known scores", "[claims]") {
  // One key alone has all weight: top weight 1, entropy 0, always above 0.99.
  ScalingOptions options;
  options.d_k = {4};
  options.trials = 50;
  options.seq = 1;
  const SaturationPoint alone = measure_saturation(options, 10).unscaled.front();
  CHECK(alone.top_weight.mean == 1);
  CHECK(alone.entropy.mean == 0);
  CHECK(alone.above_99.mean == 1);
  // Equal scores: ln 8.
  options.seq = 8;
  const auto equal = [](const double*, double, double* weights, Index seq) { std::fill_n(weights, seq, 1.0 / static_cast<double>(seq)); };
  const SaturationPoint even = measure_saturation(options, 10, equal).unscaled.front();
  CHECK(even.entropy.mean == Approx(std::log(8.0)));
  CHECK(even.top_weight.mean == 0.125);
  CHECK(even.above_99.mean == 0);
}

TEST_CASE("gradients: the verdict goes by flat Jacobians and the query's gradient at the largest width", "[claims]") {
  CHECK(gradients_verdict(gradients_of(0.95, 0, 0.01, 0.3)) == ClaimVerdict::holds);
  CHECK(gradients_verdict(gradients_of(0.7, 0, 0.01, 0.3)) == ClaimVerdict::in_part);
  CHECK(gradients_verdict(gradients_of(0.95, 0, 1.1, 0.3)) == ClaimVerdict::in_part);
  CHECK(gradients_verdict(gradients_of(0.5, 0, 0.01, 0.3)) == ClaimVerdict::does_not_hold);
  CHECK(gradients_verdict(gradients_of(0.95, 0.01, 0.01, 0.3)) == ClaimVerdict::does_not_hold);
}

TEST_CASE("gradients holds in part, and faults in scale and Jacobian change the verdict", "[claims]") {
  const auto verdict = [](const GradientKernels& kernels) { return judge_gradients(gradient_pairs(table(), kernels)).verdict; };
  CHECK(verdict({}) == ClaimVerdict::in_part);
  GradientKernels unscaled;
  unscaled.scale = [](Index) { return 1.0; };
  CHECK(verdict(unscaled) == ClaimVerdict::does_not_hold);
  GradientKernels without_outer_product;  // diag(p) alone never vanishes
  without_outer_product.jacobian = [](std::span<const double> p) { return JacobianSize{1, *std::max_element(p.begin(), p.end())}; };
  CHECK(verdict(without_outer_product) == ClaimVerdict::does_not_hold);
}
