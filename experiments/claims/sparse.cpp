#include "claims/sparse.h"

#include <algorithm>
#include <cmath>

#include "machine/threads.h"
#include "numpy/generator.h"
#include "report/uncertainty.h"
#include "sentence.h"

namespace attn {
namespace {

constexpr double linear_exponent = 1.25;  // at most, for the window
constexpr double more_than_linear = 1.5;  // at least, for all pairs
constexpr double small_share = 0.05;      // of the weight, on the sentence
constexpr Index judged_reach = 2;         // on the sentence: 5 of its 12 tokens

constexpr Index timed_reach = 128;
constexpr Index width = 64;

struct Head {
  Matrix<double> q, k, v;  // (seq, dim)
};

struct HeadLoss {
  double outside = 0, error = 0;
};

HeadAttention<double> attended(const Attend<double>& attend, const Head& head, Index reach) {
  HeadAttention<double> result{Matrix<double>(head.q.rows(), head.v.cols()), Matrix<double>(head.q.rows(), head.k.rows())};
  const auto view = [](const Matrix<double>& m) { return TensorView<const double>::from_matrix(m.view()); };
  AttentionOptions<double> options;
  options.window_left = options.window_right = reach;
  attend({view(head.q), view(head.k), view(head.v), TensorView<double>::from_matrix(result.output.view())}, options, result.weights.data());
  return result;
}

HeadLoss loss_of(const Attend<double>& attend, const Head& head, Index reach) {
  const HeadAttention<double> full = attended(attend, head, unlimited);
  const HeadAttention<double> windowed = attended(attend, head, reach);
  double outside = 0;
  for (Index i = 0; i < full.weights.size(); ++i) {
    if (windowed.weights.data()[i] == 0) outside += full.weights.data()[i];
  }
  double squares = 0, difference_squares = 0;
  for (Index i = 0; i < full.output.size(); ++i) {
    const double difference = windowed.output.data()[i] - full.output.data()[i];
    squares += full.output.data()[i] * full.output.data()[i];
    difference_squares += difference * difference;
  }
  return {outside / static_cast<double>(full.weights.rows()), std::sqrt(difference_squares / squares)};
}

std::vector<Head> gaussian_heads(Index count, Index seq, const Seed& seed) {
  Generator generator = default_rng(seed);
  std::vector<Head> heads;
  while (static_cast<Index>(heads.size()) < count) {
    Head& head = heads.emplace_back(Head{Matrix<double>(seq, width), Matrix<double>(seq, width), Matrix<double>(seq, width)});
    for (Matrix<double>* matrix : {&head.q, &head.k, &head.v}) {
      generator.fill_standard_normal({matrix->data(), static_cast<std::size_t>(matrix->size())}, threads());
    }
  }
  return heads;
}

Matrix<double> widened(MatrixView<const float> view) {
  Matrix<double> wide(view.rows(), view.cols());
  for (Index i = 0; i < view.rows(); ++i) std::copy_n(view.row(i), view.cols(), wide.view().row(i));
  return wide;
}

std::vector<Head> sentence_heads() {
  const Sentence& real = sentence();
  std::vector<Head> heads;
  for (Index layer = 0; layer < real.layers(); ++layer) {
    for (Index head = 0; head < real.heads(); ++head) {
      heads.push_back({widened(real.q.head(layer, head)), widened(real.k.head(layer, head)), widened(real.v.head(layer, head))});
    }
  }
  return heads;
}

WindowLoss loss_over(const std::vector<Head>& heads, bool is_sentence, Index reach, const Attend<double>& attend) {
  std::vector<double> outside, error;
  for (const Head& head : heads) {
    const HeadLoss loss = loss_of(attend, head, reach);
    outside.push_back(loss.outside);
    error.push_back(loss.error);
  }
  return {is_sentence, heads.front().q.rows(), reach, estimate_mean(outside), estimate_mean(error)};
}

FittedExponent time_exponent(Index reach, const ClaimSettings& settings, Finding& finding) {
  TimedRequest request{{}, {Work::fused}};
  request.modifiers.window_left = request.modifiers.window_right = reach;
  request.max_time_s = settings.quick ? 0.1 : 0.7;
  const Index largest = (settings.quick ? 4096 : 8192) * (reach == unlimited ? 1 : 2);
  for (Index n = settings.quick ? 1024 : 2048; n <= largest; n *= 2) request.points.push_back(square_point(n, width, Precision::f32));
  std::vector<double> n, time_s;
  for (const SteadyRow& row : time_rows(request, settings.seed, finding)) {
    n.push_back(static_cast<double>(row.point.n));
    time_s.push_back(row.median_s());
    finding.quantities.push_back(time_quantity(row));
    finding.quantities.back().at["reach"] = reach == unlimited ? Json("all") : Json(reach);
  }
  return fit_exponent(n, time_s);
}

std::string loss_text(const WindowLoss& loss) {
  const auto percent = [](const MeanEstimate& share) { return with_uncertainty(100 * share.mean, 100 * share.standard_error, 2); };
  return fmt::format("{} ({} of {}) loses {} % of the weight, output off by {} %", loss.sentence ? "sentence's heads" : "Gaussian",
                     2 * loss.reach + 1, loss.seq, percent(loss.outside), percent(loss.error));
}

Finding examine_sparse(const ClaimSettings& settings) {
  Finding finding;
  SparseNumbers numbers{time_exponent(timed_reach, settings, finding), time_exponent(unlimited, settings, finding),
                        measure_window_losses(standard_attend<double>(), settings.seed, settings.quick)};
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"reach", timed_reach}}, numbers.window_time));
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"reach", "all"}}, numbers.full_time));
  finding.measured =
      fmt::format("time grows as n^{}, without a window n^{}", exponent_text(numbers.window_time), exponent_text(numbers.full_time));
  for (const WindowLoss& loss : numbers.losses) {
    const Json at = {{"inputs", loss.sentence ? "sentence" : "Gaussian"}, {"n", loss.seq}, {"reach", loss.reach}};
    finding.quantities.push_back(quantity("weight_outside", at, loss.outside));
    finding.quantities.push_back(quantity("output_error", at, loss.error));
    finding.measured += "; " + loss_text(loss);
  }
  judge_timed(finding, judge_sparse(numbers));
  return finding;
}

}  // namespace

std::vector<WindowLoss> measure_window_losses(const Attend<double>& attend, const Seed& seed, bool quick) {
  constexpr Index seq = 1024, heads = 4, quick_heads = 2;
  std::vector<WindowLoss> losses;
  losses.push_back(loss_over(gaussian_heads(quick ? quick_heads : heads, seq, seed), false, timed_reach, attend));
  const std::vector<Head> real = sentence_heads();
  for (const Index reach : {Index{1}, judged_reach, Index{4}}) losses.push_back(loss_over(real, true, reach, attend));
  return losses;
}

Judged judge_sparse(const SparseNumbers& numbers) {
  const std::string cost =
      fmt::format("time grows as n^{:.2f} instead of n^{:.2f}{}", numbers.window_time.exponent, numbers.full_time.exponent,
                  caution_text({{numbers.window_time, {linear_exponent}}, {numbers.full_time, {more_than_linear}}}));
  if (numbers.window_time.exponent > linear_exponent || numbers.full_time.exponent < more_than_linear)
    return {ClaimVerdict::does_not_hold, cost};
  for (const WindowLoss& loss : numbers.losses) {
    if (!loss.sentence || loss.reach != judged_reach) continue;
    const std::string price = fmt::format("{}; a window of {} tokens loses {:.0f} % of the real heads' weight", cost, 2 * loss.reach + 1,
                                          100 * loss.outside.mean);
    return {loss.outside.mean < small_share ? ClaimVerdict::holds : ClaimVerdict::in_part, price};
  }
  return {ClaimVerdict::in_part, cost + "; what it loses on a real sentence is not known"};
}

Claim sparse_claim() {
  return {"sparse",
          2,
          "sparse patterns make long sequences affordable",
          "sparse patterns are one of the ways to long contexts",
          fmt::format("holds: at a fixed window time grows with n to at most the power {:g} (without one at least {:g}), and a window of "
                      "{} tokens loses "
                      "less than {:g} % of the weight on the real sentence's heads; in part: the former; otherwise it does not hold",
                      linear_exponent, more_than_linear, 2 * judged_reach + 1, 100 * small_share),
          true,
          10,
          examine_sparse};
}

}  // namespace attn
