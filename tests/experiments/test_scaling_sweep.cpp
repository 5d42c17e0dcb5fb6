#include "scaling_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "catch.h"
#include "measure/statistics.h"
#include "report/fingerprint.h"

using namespace attn;

namespace {

Field field(const Block& block, std::size_t row, const char* name) {
  const Field* found = block.rows.at(row).find(name);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("rows draw from one stream, in the order given, and record where they began") {
  Status status = Status::passed;
  ScalingOptions options;
  options.d_k = {4, 7, 3};
  options.trials = 50;
  options.seq = 5;
  const Block block = scaling_block(options, false, status);
  CHECK(status == Status::passed);
  CHECK(field(block, 0, "stream_position").value == 0);
  // Drawing the last row alone from where it began gives the same numbers.
  Generator generator = default_rng(options.seed);
  generator.advance(field(block, 2, "stream_position").value.get<std::uint64_t>());
  const DrawnScores drawn = draw_scores(generator, 3, options.trials, options.seq, false);
  CHECK(field(block, 2, "std_of_scores").value == scaling_row(drawn.scores, 3).std_of_scores);
}

TEST_CASE("scores are dot products of one query with seq keys each") {
  const Index d_k = 37;
  Generator generator = default_rng(Seed(5));
  const DrawnScores drawn = draw_scores(generator, d_k, 3, 4, true);
  Generator again = default_rng(Seed(5));
  std::vector<double> numbers(3 * d_k + 12 * d_k);
  again.fill_standard_normal(numbers);
  CHECK(again.position() == generator.position());
  CHECK(drawn.input_hash == Fingerprint().add(numbers.data(), numbers.size() * sizeof(double)).text());
  for (Index i = 0; i < 12; ++i) {
    long double sum = 0;
    for (Index e = 0; e < d_k; ++e) sum += static_cast<long double>(numbers[(i / 4) * d_k + e]) * numbers[3 * d_k + i * d_k + e];
    CHECK(drawn.precise.data()[i] == sum);
    CHECK(drawn.scores.data()[i] == Approx(static_cast<double>(sum)).epsilon(1e-14));
  }
}

TEST_CASE("a row's statistics of known scores") {
  // Two trials of two keys; deviation of {0, 2, 4, 6} is sqrt(5); the top weights are both 1 / (1 + exp(-2 / divisor)).
  Matrix<double> scores(2, 2);
  std::copy_n(std::array{0.0, 2.0, 6.0, 4.0}.data(), 4, scores.data());
  const ScalingRow<double> row = scaling_row(scores, 4);
  CHECK(row.std_of_scores == Approx(std::sqrt(5.0)));
  CHECK(row.top_weight_unscaled == Approx(1 / (1 + std::exp(-2.0))));
  CHECK(row.top_weight_scaled == Approx(1 / (1 + std::exp(-1.0))));
}

TEST_CASE("a row too large for memory is skipped, and the others keep their numbers") {
  ScalingOptions options;
  options.trials = 2;
  options.seq = 2;
  options.d_k = {3, Index{1} << 58, 3};
  Status status = Status::passed;
  const Block block = scaling_block(options, false, status);
  CHECK(status == Status::skipped);
  CHECK(field(block, 0, "status").value == "passed");
  CHECK(field(block, 1, "status").value == "skipped");
  CHECK(field(block, 1, "reason").value.get<std::string>().find("memory") != std::string::npos);
  // Nobody can pass over so many numbers: the last row's place in the stream is not known.
  CHECK(field(block, 2, "status").value == "skipped");
}

// What a standard error claims: how far the estimates of many repetitions scatter.
TEST_CASE("standard errors of the scaling table are the scatter of repeated estimates", "[scaling]") {
  constexpr int repetitions = 400;
  constexpr Index d_k = 16;
  Generator generator = default_rng(Seed(3));
  std::vector<double> found[3];
  double claimed[3] = {};
  for (int i = 0; i < repetitions; ++i) {
    const Matrix<double> scores = draw_scores(generator, d_k, 60, 10, false).scores;
    const ScalingRow<double> row = scaling_row(scores, d_k);
    const ScalingRow<double> errors = scaling_errors(scores, d_k);
    found[0].push_back(row.std_of_scores);
    found[1].push_back(row.top_weight_unscaled);
    found[2].push_back(row.top_weight_scaled);
    claimed[0] += errors.std_of_scores / repetitions;
    claimed[1] += errors.top_weight_unscaled / repetitions;
    claimed[2] += errors.top_weight_scaled / repetitions;
  }
  for (int which = 0; which < 3; ++which) {
    const double scatter = estimate_mean(found[which]).standard_error * std::sqrt(static_cast<double>(repetitions));
    CHECK(claimed[which] == Approx(scatter).epsilon(0.12));  // a deviation from 400 values is known to 3.5 %
  }
  CHECK(scaling_errors(Matrix<double>(1, 1, 2.0), 4).std_of_scores == 0);
}
