// What follows from the measured parts of a layer: whole layers, and from which n on attention is more than half (layer_sweep.h).
#include <algorithm>
#include <cmath>

#include "layer_sweep.h"

namespace attn {
namespace {

// Noise of the sum of two times, where both are known.
std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional<double>(*a + *b) : std::nullopt;
}

std::optional<double> noise_s(const LayerPartRow& row) {
  if (!row.measurement->noise) return std::nullopt;
  return row.measurement->summary->half_iqr / 1e9;
}

// Where log(attention / rest) crosses 0 between two sizes, on a straight line over log n.
double crossing(Index n_below, double ratio_below, Index n_above, double ratio_above) {
  const double from = std::log(static_cast<double>(n_below));
  const double to = std::log(static_cast<double>(n_above));
  const double a = std::log(ratio_below);
  const double b = std::log(ratio_above);
  return std::exp(from + (to - from) * (0 - a) / (b - a));
}

// The amounts with their noise in favour of attention (sign 1) or against it (-1); nothing where it is unknown.
std::optional<double> shifted_ratio(const SplitAmount& amount, double sign) {
  if (!amount.attention_noise || !amount.rest_noise) return std::nullopt;
  const double attention = amount.attention + sign * *amount.attention_noise;
  const double rest = amount.rest - sign * *amount.rest_noise;
  if (attention <= 0 || rest <= 0) return std::nullopt;
  return attention / rest;
}

std::optional<double> shifted_crossing(const SplitAmount& below, const SplitAmount& above, double sign) {
  const auto a = shifted_ratio(below, sign);
  const auto b = shifted_ratio(above, sign);
  if (!a || !b || *b <= *a) return std::nullopt;
  return crossing(below.n, *a, above.n, *b);
}

}  // namespace

std::vector<LayerTotal> layers_of(std::span<const LayerPartRow> parts) {
  const auto part = [&](LayerPart which) -> const LayerPartRow& {
    return *std::find_if(parts.begin(), parts.end(), [which](const LayerPartRow& row) { return row.part == which; });
  };
  const LayerPartRow& projections = part(LayerPart::projections);
  const LayerPartRow& feed_forward = part(LayerPart::feed_forward);
  std::vector<LayerTotal> layers;
  for (const AttentionAlgorithm algorithm : {AttentionAlgorithm::standard, AttentionAlgorithm::fused}) {
    const LayerPartRow& attention =
        part(algorithm == AttentionAlgorithm::standard ? LayerPart::standard_attention : LayerPart::fused_attention);
    const Index n = attention.point.n;
    LayerTotal& layer = layers.emplace_back();
    layer.point = attention.point;
    layer.algorithm = algorithm;
    layer.flops = {n, attention.flops, projections.flops + feed_forward.flops, {}, {}};
    const auto usable = [](const LayerPartRow& row) { return row.timed() && row.status == Status::passed; };
    if (!usable(attention) || !usable(projections) || !usable(feed_forward)) continue;
    layer.time_s = SplitAmount{n, attention.median_s(), projections.median_s() + feed_forward.median_s(), noise_s(attention),
                               sum(noise_s(projections), noise_s(feed_forward))};
  }
  return layers;
}

Majority majority_of(std::vector<SplitAmount> amounts) {
  std::sort(amounts.begin(), amounts.end(), [](const SplitAmount& a, const SplitAmount& b) { return a.n < b.n; });
  const auto minor = [](const SplitAmount& amount) { return amount.attention <= amount.rest; };
  const auto last_minor = std::find_if(amounts.rbegin(), amounts.rend(), minor);
  Majority majority;
  if (last_minor != amounts.rend()) majority.below = last_minor->n;
  if (last_minor == amounts.rbegin()) return majority;  // none, or not a majority at the last
  const SplitAmount& above = *last_minor.base();
  majority.above = above.n;
  if (!majority.below) return majority;
  const SplitAmount& below = *last_minor;
  majority.n = crossing(below.n, below.attention / below.rest, above.n, above.attention / above.rest);
  majority.n_low = shifted_crossing(below, above, 1);
  majority.n_high = shifted_crossing(below, above, -1);
  return majority;
}

std::vector<LayerMajority> majorities_of(const std::vector<LayerTotal>& layers, bool causal) {
  std::vector<LayerMajority> majorities;
  for (const LayerTotal& head : layers) {
    const auto known = [&head](const LayerMajority& m) { return m.algorithm == head.algorithm && m.model.same_model(head.point); };
    if (std::any_of(majorities.begin(), majorities.end(), known)) continue;
    std::vector<SplitAmount> flops, times;
    for (const LayerTotal& layer : layers) {
      if (layer.algorithm != head.algorithm || !layer.point.same_model(head.point)) continue;
      flops.push_back(layer.flops);
      if (layer.time_s) times.push_back(*layer.time_s);
    }
    const LayerShape shape = layer_shape(head.point.d_model, head.point.heads);
    majorities.push_back({head.point, head.algorithm, majority_of(flops), attention_majority(shape, causal), majority_of(times)});
  }
  return majorities;
}

}  // namespace attn
