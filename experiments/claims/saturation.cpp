#include "claims/saturation.h"

#include <algorithm>
#include <cmath>

#include "attention/softmax.h"
#include "claims/spread.h"
#include "machine/threads.h"
#include "report/uncertainty.h"

namespace attn {
namespace {

constexpr double nearly_all = 0.99;  // of the weight, in one trial

// saturation, at the largest d_k; means count less three standard errors.
constexpr double mean_of_nearly_all = 0.95;
constexpr double mean_of_most = 0.8;
constexpr double most_trials = 0.5;
constexpr double few_trials = 0.01;
constexpr double errors = 3;

// scaled-constant
constexpr double stated = 0.32;
constexpr double stated_rounding = 0.005;
constexpr double near_stated = 0.03;

// Samples of one scale: a value per trial.
struct Samples {
  std::vector<double> top, entropy, above;

  void add(const std::vector<double>& weights) {
    top.push_back(*std::max_element(weights.begin(), weights.end()));
    above.push_back(top.back() > nearly_all ? 1 : 0);
    double sum = 0;
    for (const double p : weights) sum -= p > 0 ? p * std::log(p) : 0;
    entropy.push_back(sum);
  }

  SaturationPoint point(Index d_k) const { return {d_k, estimate_mean(top), estimate_mean(entropy), estimate_mean(above)}; }
};

SaturationPoint point_of(const Matrix<double>& scores, Index d_k, double scale, const ScaledSoftmax& softmax) {
  Samples samples;
  std::vector<double> weights(static_cast<std::size_t>(scores.cols()));
  for (Index t = 0; t < scores.rows(); ++t) {
    softmax(scores.view().row(t), scale, weights.data(), scores.cols());
    samples.add(weights);
  }
  return samples.point(d_k);
}

// Of `seq` independent standard normal scores; from a stream beside the one of queries and keys.
MeanEstimate limit_of(const ScalingOptions& options, Index trials, const ScaledSoftmax& softmax) {
  Generator generator = default_rng(Seed::list({options.seed, Seed(2)}));
  Matrix<double> scores(trials, options.seq);
  generator.fill_standard_normal({scores.data(), static_cast<std::size_t>(scores.size())}, threads());
  return point_of(scores, 0, 1, softmax).top_weight;
}

void softmax_of_scaled(const double* scores, double scale, double* weights, Index seq) {
  std::transform(scores, scores + seq, weights, [scale](double s) { return s * scale; });
  softmax_row(weights, weights, seq);
}

SaturationSweep measure(const ClaimSettings& settings) {
  constexpr Index limit_trials = 500000;  // for a standard error of 0.0002
  return measure_saturation(scaling_options(settings), limit_trials);
}

std::vector<Quantity> quantities_of(const SaturationSweep& sweep, Index trials) {
  std::vector<Quantity> all;
  for (const bool scaled : {false, true}) {
    for (const SaturationPoint& point : scaled ? sweep.scaled : sweep.unscaled) {
      const Json at = {{"d_k", point.d_k}, {"scaled", scaled}, {"trials", trials}};
      all.push_back(quantity("top_weight", at, point.top_weight));
      all.push_back(quantity("entropy_nats", at, point.entropy));
      all.push_back(quantity("share_above_99_percent", at, point.above_99));
    }
  }
  all.push_back(quantity("top_weight_limit", Json::object(), sweep.limit));
  return all;
}

std::string text_of(const MeanEstimate& estimate) { return with_uncertainty(estimate.mean, estimate.standard_error); }

std::string percent(const MeanEstimate& share) {
  return fmt::format("{} %", share.standard_error > 0 ? with_uncertainty(100 * share.mean, 100 * share.standard_error)
                                                      : fmt::format("{:g}", 100 * share.mean));
}

Finding examine_saturation(const ClaimSettings& settings) {
  const SaturationSweep sweep = measure(settings);
  Finding finding;
  for (std::size_t i = 0; i < sweep.unscaled.size(); ++i) {
    const SaturationPoint& raw = sweep.unscaled[i];
    if (raw.d_k != 64 && i + 1 < sweep.unscaled.size()) continue;  // the usual width and the largest
    finding.measured +=
        fmt::format("{}d_k = {}: top weight {} (scaled {}), above 0.99 in {} of trials (scaled {}), entropy {} (scaled {}) nats",
                    finding.measured.empty() ? "" : "; ", raw.d_k, text_of(raw.top_weight), text_of(sweep.scaled[i].top_weight),
                    percent(raw.above_99), percent(sweep.scaled[i].above_99), text_of(raw.entropy), text_of(sweep.scaled[i].entropy));
  }
  finding.judged = judge_saturation(sweep);
  finding.quantities = quantities_of(sweep, scaling_options(settings).trials);
  return finding;
}

Finding examine_constant(const ClaimSettings& settings) {
  const SaturationSweep sweep = measure(settings);
  Finding finding;
  std::vector<std::string> tops, widths;
  for (const SaturationPoint& point : sweep.scaled) {
    tops.push_back(text_of(point.top_weight));
    widths.push_back(std::to_string(point.d_k));
  }
  finding.measured = fmt::format("d_k = {}: {}; tends to {}", fmt::join(widths, ", "), fmt::join(tops, ", "), text_of(sweep.limit));
  finding.judged = judge_scaled_constant(sweep);
  finding.quantities = quantities_of(sweep, scaling_options(settings).trials);
  return finding;
}

// In standard errors of both.
double distance(const MeanEstimate& a, const MeanEstimate& b) { return (a.mean - b.mean) / std::hypot(a.standard_error, b.standard_error); }

}  // namespace

SaturationSweep measure_saturation(const ScalingOptions& options, Index limit_trials, const ScaledSoftmax& softmax) {
  const ScaledSoftmax used = softmax ? softmax : softmax_of_scaled;
  SaturationSweep sweep;
  Generator generator = default_rng(options.seed);
  for (const Index d_k : options.d_k) {
    const Matrix<double> scores = draw_scores(generator, d_k, options.trials, options.seq, false).scores;
    sweep.unscaled.push_back(point_of(scores, d_k, 1, used));
    sweep.scaled.push_back(point_of(scores, d_k, 1 / std::sqrt(static_cast<double>(d_k)), used));
  }
  sweep.limit = limit_of(options, limit_trials, used);
  return sweep;
}

Judged judge_saturation(const SaturationSweep& sweep) {
  const SaturationPoint& raw = sweep.unscaled.back();
  const SaturationPoint& scaled = sweep.scaled.back();
  const double top = raw.top_weight.mean - errors * raw.top_weight.standard_error;
  const std::string where = fmt::format("at d_k = {}", raw.d_k);
  if (scaled.above_99.mean >= few_trials) return {ClaimVerdict::does_not_hold, "scaled scores saturate as well " + where};
  if (top > mean_of_nearly_all && raw.above_99.mean > most_trials) {
    return {ClaimVerdict::holds, fmt::format("{} one token has {:.0f} % of the weight on average; it has less the narrower the head", where,
                                             100 * raw.top_weight.mean)};
  }
  if (top > mean_of_most)
    return {ClaimVerdict::in_part, fmt::format("{} one token has only {:.0f} % of it", where, 100 * raw.top_weight.mean)};
  return {ClaimVerdict::does_not_hold, fmt::format("{} one token has {:.0f} % of it", where, 100 * raw.top_weight.mean)};
}

Judged judge_scaled_constant(const SaturationSweep& sweep) {
  std::size_t at_limit = 0;
  bool near = true;
  std::vector<std::string> off;
  for (const SaturationPoint& point : sweep.scaled) {
    near = near && std::abs(point.top_weight.mean - stated) < near_stated;
    if (std::abs(distance(point.top_weight, sweep.limit)) < errors) {
      ++at_limit;
    } else {
      off.push_back(fmt::format("{:.3f} at d_k = {}", point.top_weight.mean, point.d_k));
    }
  }
  const bool limit_as_stated = std::abs(sweep.limit.mean - stated) < stated_rounding;
  const std::string limit = fmt::format("it tends to {:.4f}", sweep.limit.mean);
  if (off.empty() && limit_as_stated) return {ClaimVerdict::holds, limit};
  if (near && 2 * at_limit > sweep.scaled.size()) return {ClaimVerdict::in_part, fmt::format("{}, but is {}", limit, fmt::join(off, ", "))};
  return {ClaimVerdict::does_not_hold, off.empty() ? limit : fmt::format("{}; it is {}", limit, fmt::join(off, ", "))};
}

Claim saturation_claim() {
  return {
      "saturation",
      1,
      "without scaling, one token gets nearly all the weight",
      "large scores leave nearly all weight on one token",
      fmt::format(
          "at the largest d_k, holds: mean top weight above {} by {} standard errors, above {} in over {:g} % of trials, scaled in under "
          "{:g} %; in part: mean top weight above {}; otherwise it does not hold",
          mean_of_nearly_all, errors, nearly_all, 100 * most_trials, 100 * few_trials, mean_of_most),
      false,
      1,
      examine_saturation};
}

Claim scaled_constant_claim() {
  return {
      "scaled-constant",
      1,
      "scaled, the top weight is 0.32 whatever d_k",
      "scaled: about 0.32 at every d_k",
      fmt::format("holds: at every d_k within {} standard errors of the limit, which rounds to {}; in part: so at most d_k, and everywhere "
                  "within {} of {}; otherwise it does not hold",
                  errors, stated, near_stated, stated),
      false,
      2,
      examine_constant};
}

}  // namespace attn
