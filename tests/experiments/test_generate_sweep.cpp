#include "generate_sweep.h"

#include <cmath>

#include "catch.h"
#include "machine/error.h"

using namespace attn;

namespace {

// As few and short samples as there can be: nothing here is about time.
SamplerOptions hasty() {
  SamplerOptions sampler;
  sampler.repetitions = 1;
  sampler.min_sample_s = 0;
  sampler.min_sample_ticks = 1;
  return sampler;
}

GenerationOptions hasty_generation(std::vector<ModelPoint> points) {
  GenerationOptions options;
  options.points = std::move(points);
  options.sampler = hasty();
  return options;
}

// A row that took so long, by hand.
GenerationRow timed_row(Index n, GenerationWay way, double seconds, double flops) {
  GenerationRow row;
  row.point.n = n;
  row.way = way;
  row.flops = flops;
  row.measurement.emplace();
  row.measurement->samples_ns = {1e9 * seconds};
  row.measurement->summary = summarize(row.measurement->samples_ns);
  return row;
}

}  // namespace

TEST_CASE("both ways of generation at odd sizes are timed, checked and right, and what is too large is skipped") {
  const GenerationResult result = measure_generation(hasty_generation(
      {{37, 30, 3, Precision::f32}, {50, 30, 3, Precision::f64}, {1, 8, 8, Precision::f64}, {Index{1} << 40, 30, 3, Precision::f32}}));
  REQUIRE(result.rows.size() == 8);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const GenerationRow& row = result.rows[i];
    INFO("row " << i << ": " << row.reason);
    CHECK(row.way == (i % 2 == 0 ? GenerationWay::uncached : GenerationWay::cached));
    if (i / 2 == 3) {
      CHECK(row.status == Status::skipped);
      CHECK(row.reason.find("memory") != std::string::npos);
      CHECK_FALSE(row.timed());
      continue;
    }
    CHECK(row.status == Status::passed);
    CHECK(row.timed());
    CHECK(row.rows == row.point.n);
    CHECK(row.largest_share < 1);
    CHECK(row.input_hash == result.rows[i - i % 2].input_hash);
    CHECK_FALSE(row.output_hash.empty());
  }
  // Keys and values of 37 tokens of 30 float32, of 50 of 30 float64.
  CHECK(result.rows[0].cache_bytes == 0);
  CHECK(result.rows[1].cache_bytes == 2 * 37 * 30 * 4);
  CHECK(result.rows[3].cache_bytes == 2 * 50 * 30 * 8);
  CHECK(result.growths.empty());  // no series has two sizes
}

TEST_CASE("a point draws the same numbers wherever it stands after the same ones") {
  const GenerationResult both = measure_generation(hasty_generation({{5, 12, 2, Precision::f32}, {9, 12, 2, Precision::f32}}));
  GenerationOptions alone = hasty_generation({{9, 12, 2, Precision::f32}});
  alone.advance = both.rows[2].stream_position.get<std::uint64_t>();
  CHECK(alone.advance > 0);
  const GenerationResult second = measure_generation(alone);
  CHECK(second.rows[0].input_hash == both.rows[2].input_hash);
  CHECK(second.rows[1].output_hash == both.rows[3].output_hash);
  // Points that do not fit take their numbers with them.
  const GenerationResult after = measure_generation(hasty_generation({{5, 12, 2, Precision::f32}, {9, 12, 2, Precision::f64}}));
  CHECK(after.rows[2].stream_position == both.rows[2].stream_position);
}

TEST_CASE("exponents of generation are those of its rows, way by way") {
  std::vector<GenerationRow> rows;
  for (const Index n : {64, 128, 256}) {
    const double x = static_cast<double>(n);
    rows.push_back(timed_row(n, GenerationWay::uncached, 1e-6 * x * x, std::pow(x, 2.5)));
    rows.push_back(timed_row(n, GenerationWay::cached, 1e-4 * x, x));
  }
  rows.push_back(timed_row(512, GenerationWay::cached, 1, 1));
  rows.back().measurement.reset();  // was skipped
  const std::vector<GenerationGrowth> growths = growth_of(rows);
  REQUIRE(growths.size() == 2);
  CHECK(growths[0].way == GenerationWay::uncached);
  CHECK(growths[0].time.exponent == Approx(2));
  CHECK(growths[0].flops.exponent == Approx(2.5));
  CHECK(growths[1].way == GenerationWay::cached);
  CHECK(growths[1].time.exponent == Approx(1));
  // Another width is another series.
  rows.back() = timed_row(64, GenerationWay::cached, 1, 1);
  rows.back().point.d_model = 1536;
  CHECK(growth_of(rows).size() == 2);
}

TEST_CASE("heads that do not divide the width are refused before anything is drawn") {
  CHECK_THROWS_AS(measure_generation(hasty_generation({{4, 10, 3, Precision::f32}})), UsageError);
  CHECK_THROWS_AS(ModelAxes({{4}, {10}, {3}}).points(), UsageError);
}
