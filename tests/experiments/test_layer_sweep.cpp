#include "layer_sweep.h"

#include <cmath>

#include "catch.h"

using namespace attn;

namespace {

LayerOptions hasty_layer(std::vector<ModelPoint> points, bool causal) {
  LayerOptions options;
  options.points = std::move(points);
  options.causal = causal;
  options.sampler.repetitions = 1;
  options.sampler.min_sample_s = 0;
  options.sampler.min_sample_ticks = 1;
  return options;
}

// A part that took so long, with a noise of a tenth of that.
LayerPartRow timed_part(LayerPart part, double seconds, double flops) {
  LayerPartRow row;
  row.point.n = 100;
  row.part = part;
  row.flops = flops;
  row.measurement.emplace();
  row.measurement->samples_ns = {0.9e9 * seconds, 0.9e9 * seconds, 1e9 * seconds, 1.1e9 * seconds, 1.1e9 * seconds};
  row.measurement->summary = summarize(row.measurement->samples_ns);
  row.measurement->noise = row.measurement->summary->relative_noise();
  return row;
}

SplitAmount amount(Index n, double attention, double rest) { return {n, attention, rest, {}, {}}; }

}  // namespace

TEST_CASE("a layer's parts at odd sizes are timed, checked and right, and what is too large is skipped") {
  for (const bool causal : {false, true}) {
    const LayerResult result = measure_layer(hasty_layer(
        {{41, 36, 3, Precision::f32}, {600, 36, 3, Precision::f64}, {1, 8, 8, Precision::f64}, {Index{1} << 40, 36, 3, Precision::f32}},
        causal));
    REQUIRE(result.parts.size() == 16);
    for (std::size_t i = 0; i < result.parts.size(); ++i) {
      const LayerPartRow& row = result.parts[i];
      INFO("row " << i << ": " << name_of(row.part) << ", " << algorithm_of(row.part) << ": " << row.reason);
      CHECK(row.part == static_cast<LayerPart>(i % 4));
      CHECK(row.status == (i / 4 == 3 ? Status::skipped : Status::passed));
      CHECK(row.timed() == (i / 4 != 3));
      CHECK(row.output_hash.empty() == (i / 4 == 3));
    }
    REQUIRE(result.layers.size() == 8);
    CHECK_FALSE(result.layers[6].time_s);
    CHECK(result.layers[2].time_s->total() == Approx(result.parts[4].median_s() + result.parts[5].median_s() + result.parts[7].median_s()));
    CHECK(result.layers[3].time_s->attention == result.parts[6].median_s());
    // 41 tokens, 36 wide: 8 n d^2, 4 pairs d, 16 n d^2.
    const double pairs = causal ? 41 * 42 / 2 : 41 * 41;
    CHECK(result.layers[0].flops.attention == 4 * pairs * 36);
    CHECK(result.layers[0].flops.rest == 24.0 * 41 * 36 * 36);
  }
}

TEST_CASE("a layer is the sum of its parts, unless one of them is wrong") {
  std::vector<LayerPartRow> parts = {timed_part(LayerPart::projections, 1, 10), timed_part(LayerPart::standard_attention, 8, 40),
                                     timed_part(LayerPart::fused_attention, 2, 40), timed_part(LayerPart::feed_forward, 3, 20)};
  const std::vector<LayerTotal> layers = layers_of(parts);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].time_s->total() == Approx(12));
  CHECK(layers[1].time_s->total() == Approx(6));
  CHECK(layers[0].time_s->attention_share() == Approx(8.0 / 12));
  CHECK(layers[1].time_s->attention_share() == Approx(2.0 / 6));
  CHECK(*layers[0].time_s->attention_noise == Approx(0.8));
  CHECK(*layers[0].time_s->rest_noise == Approx(0.1 + 0.3));
  CHECK(layers[0].flops.attention_share() == Approx(40.0 / 70));
  parts[1].status = Status::failed;
  CHECK_FALSE(layers_of(parts)[0].time_s);
  CHECK(layers_of(parts)[1].time_s);
  parts[3].measurement.reset();
  CHECK_FALSE(layers_of(parts)[1].time_s);
}

TEST_CASE("a majority begins where attention comes to stay above half") {
  // attention = n^2, rest = 1000 n: equal at 1000, on a straight line between any two sizes.
  std::vector<SplitAmount> amounts;
  for (const Index n : {4096, 256, 512, 2048}) amounts.push_back(amount(n, static_cast<double>(n * n), 1000.0 * static_cast<double>(n)));
  const Majority majority = majority_of(amounts);
  CHECK(majority.below == 512);
  CHECK(majority.above == 2048);
  CHECK(*majority.n == Approx(1000));
  CHECK_FALSE(majority.n_low);

  // A noise of 10 % of each: at the ends the ratios move by 1.1 / 0.9, and on this line n by as much.
  for (SplitAmount& a : amounts) {
    a.attention_noise = 0.1 * a.attention;
    a.rest_noise = 0.1 * a.rest;
  }
  CHECK(*majority_of(amounts).n_low == Approx(1000 * 0.9 / 1.1));
  CHECK(*majority_of(amounts).n_high == Approx(1000 * 1.1 / 0.9));

  const Majority never = majority_of({amount(10, 1, 2), amount(20, 2, 2)});  // half is not more than half
  CHECK(never.below == 20);
  CHECK_FALSE(never.above);
  CHECK_FALSE(never.n);
  const Majority always = majority_of({amount(10, 3, 2), amount(20, 4, 2)});
  CHECK_FALSE(always.below);
  CHECK(always.above == 10);
  CHECK_FALSE(always.n);
  const Majority lost_again = majority_of({amount(10, 3, 2), amount(20, 1, 2), amount(40, 4, 2)});
  CHECK(lost_again.below == 20);
  CHECK(lost_again.above == 40);
  const Majority of_nothing = majority_of({});
  CHECK_FALSE(of_nothing.below);
  CHECK_FALSE(of_nothing.above);
}

// By operations the measured sizes and the closed form must say the same.
TEST_CASE("the majority by operations is found between sizes where the closed form has it") {
  for (const bool causal : {false, true}) {
    const LayerOptions options = hasty_layer({}, causal);
    std::vector<LayerTotal> layers;
    for (const ModelPoint& point : ModelAxes({{256, 512, 1024, 2048, 4096, 8192, 16384}, {768, 64}, {4}}).points()) {
      for (const LayerTotal& layer : layers_of(blank_layer_rows(options, point, RowStream(options.seed)))) layers.push_back(layer);
    }
    const std::vector<LayerMajority> majorities = majorities_of(layers, causal);
    REQUIRE(majorities.size() == 4);
    for (const LayerMajority& majority : majorities) {
      INFO("d_model " << majority.model.d_model << " causal " << causal);
      const Index exactly = (causal ? 12 : 6) * majority.model.d_model + (causal ? 0 : 1);
      CHECK(majority.by_flops_exactly == exactly);
      CHECK(*majority.by_flops.below < exactly);
      CHECK(*majority.by_flops.above >= exactly);
      CHECK(*majority.by_flops.n == Approx(static_cast<double>(exactly)).epsilon(0.01));
      CHECK_FALSE(majority.by_time.above);
    }
  }
}
