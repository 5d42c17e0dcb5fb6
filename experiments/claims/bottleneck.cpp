#include "claims/bottleneck.h"

#include <algorithm>
#include <map>

namespace attn {
namespace {

LayerOptions options_for(const ClaimSettings& settings) {
  LayerOptions options;
  options.points =
      (settings.quick ? ModelAxes{{256, 512, 1024, 2048}, {128}, {2}} : ModelAxes{{256, 512, 1024, 2048, 4096, 8192}}).points();
  options.seed = settings.seed;
  options.sampler.max_time_s = settings.quick ? 0.1 : 0.5;
  return options;
}

// "from n = 2310 on", or what else is known.
std::string majority_text(const Majority& majority) {
  if (!majority.above) return "not at the largest measured n";
  if (!majority.below) return fmt::format("at n = {} already", *majority.above);
  return fmt::format("from about n = {:.0f} on", *majority.n);
}

void add_majority(Finding& finding, const char* algorithm, const Majority& majority) {
  if (!majority.n) return;
  Quantity quantity{"n_majority", {{"by", "time"}, {"algorithm", algorithm}}, *majority.n};
  quantity.low = majority.n_low;
  quantity.high = majority.n_high;
  finding.quantities.push_back(std::move(quantity));
}

void add_layer(Finding& finding, const LayerTotal& layer) {
  const Json at = {{"algorithm", layer.algorithm == AttentionAlgorithm::standard ? "standard" : "fused"},
                   {"n", layer.point.n},
                   {"d_model", layer.point.d_model}};
  finding.quantities.push_back({"attention_flops_share", at, layer.flops.attention_share()});
  if (!layer.time_s) return;
  finding.quantities.push_back({"attention_time_share", at, layer.time_s->attention_share()});
  finding.quantities.push_back({"time_s", at, layer.time_s->total()});
}

// Smallest and largest n at which layers with both algorithms were timed; 0 where there are none.
std::pair<Index, Index> timed_sizes(const std::vector<LayerTotal>& layers) {
  std::map<Index, int> timed;
  for (const LayerTotal& layer : layers) timed[layer.point.n] += layer.time_s ? 1 : 0;
  std::erase_if(timed, [](const auto& of_n) { return of_n.second < 2; });
  if (timed.empty()) return {0, 0};
  return {timed.begin()->first, timed.rbegin()->first};
}

Finding examine_bottleneck(const ClaimSettings& settings) {
  const LayerOptions options = options_for(settings);
  const LayerResult result = measure_layer(options);
  Finding finding;
  for (const LayerPartRow& row : result.parts) {
    note_timed(finding, fmt::format("{}, {} n = {}", name_of(row.part), algorithm_of(row.part), row.point.n), row.status, row.reason,
               row.measurement);
  }
  for (const LayerTotal& layer : result.layers) add_layer(finding, layer);
  const LayerMajority& standard = result.majorities.front();
  const LayerMajority& fused = result.majorities.back();
  const auto [smallest_n, largest_n] = timed_sizes(result.layers);
  const BottleneckNumbers numbers{smallest_n, largest_n, standard.by_time, fused.by_time};
  finding.quantities.push_back({"n_majority", {{"by", "flops"}}, static_cast<double>(standard.by_flops_exactly)});
  add_majority(finding, "standard", numbers.standard);
  add_majority(finding, "fused", numbers.fused);
  finding.measured = fmt::format(
      "{}, n = {} to {}: attention is more than half of the operations from n = {} on, of the time {} with the "
      "standard algorithm and {} with the fused one",
      model_text(standard.model), numbers.smallest_n, numbers.largest_n, standard.by_flops_exactly, majority_text(numbers.standard),
      majority_text(numbers.fused));
  judge_timed(finding, judge_bottleneck(numbers));
  return finding;
}

}  // namespace

Judged judge_bottleneck(const BottleneckNumbers& numbers) {
  if (numbers.largest_n == 0) return {ClaimVerdict::not_measurable, "no layer could be timed"};
  const std::string found = fmt::format("attention takes more than half of a layer's time {} as standard, {} as fused attention",
                                        majority_text(numbers.standard), majority_text(numbers.fused));
  if (!numbers.standard.above && !numbers.fused.above) return {ClaimVerdict::does_not_hold, found};
  const auto everywhere = [](const Majority& majority) { return majority.above && !majority.below; };
  return {everywhere(numbers.standard) && everywhere(numbers.fused) ? ClaimVerdict::holds : ClaimVerdict::in_part, found};
}

Claim bottleneck_claim() {
  return {"bottleneck",
          2,
          "this arithmetic is the bottleneck",
          "the scores' arithmetic is what limits",
          "holds: attention takes more than half of a layer's time at every measured n, with either algorithm; in part: only from some n "
          "on, or with one of them; does not hold: not at the largest",
          true,
          25,
          examine_bottleneck};
}

}  // namespace attn
