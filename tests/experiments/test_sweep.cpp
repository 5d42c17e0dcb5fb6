#include <CLI/CLI.hpp>
#include <functional>
#include <new>

#include "catch.h"
#include "machine/error.h"
#include "stream_rows.h"
#include "sweep/axes.h"
#include "timing/problem.h"
#include "timing/steady.h"

using namespace attn;

namespace {

// The combinations of --a and --b for a command line.
std::vector<std::vector<Index>> parsed(std::vector<std::string> arguments) {
  CLI::App app;
  std::vector<Index> ignored;
  const std::vector<Axis> axes = {{add_sizes(app, "--a", ignored, ""), {1, 2}}, {add_sizes(app, "--b", ignored, ""), {10, 20}}};
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return combinations(axes, &app);
}

using Combinations = std::vector<std::vector<Index>>;

}  // namespace

TEST_CASE("lists multiply, the one named first varying slowest") {
  const Combinations a_slowest = {{1, 10}, {1, 20}, {2, 10}, {2, 20}};
  const Combinations b_slowest = {{1, 10}, {2, 10}, {1, 20}, {2, 20}};
  CHECK(parsed({"--a", "1", "--b", "1"}) == a_slowest);
  CHECK(parsed({"--b", "1", "--a", "1"}) == b_slowest);
  CHECK(parsed({}) == a_slowest);
  CHECK(parsed({"--a", "1"}) == b_slowest);  // what is not named varies slowest
}

TEST_CASE("operations and bytes of a point") {
  TimingPoint point{100, 100, 64, 32, 50, 4, 2, 3, Precision::f32};
  const double pairs = 3.0 * 4 * 100 * 100;
  CHECK(flops_of(Work::fused, point, {}) == 2 * (64 + 32) * pairs);
  CHECK(flops_of(Work::scores, point, {}) == 2 * 64 * pairs);
  CHECK(flops_of(Work::gemm, point, {}) == 2.0 * 100 * 100 * 50);
  CHECK(flops_of(Work::decode, point, {}) == 2 * (64 + 32) * 3.0 * 4 * 100);
  Modifiers causal;
  causal.causal = true;
  CHECK(flops_of(Work::fused, point, causal) == 2 * (64 + 32) * 3.0 * 4 * (100 * 101 / 2));
  CHECK(flops_of(Work::decode, point, causal) == 2 * (64 + 32) * 3.0 * 4 * 100);
  Modifiers window;
  window.window_left = 0;
  window.window_right = 0;
  CHECK(flops_of(Work::standard, point, window) == 2 * (64 + 32) * 3.0 * 4 * 100);
  CHECK(input_bytes_of(Work::scores, point) == 4 * 3.0 * 100 * (4 * 64 + 2 * 64));
  CHECK(bytes_model_of(Work::fused, point, {}) == 4 * 3.0 * 100 * (4 * 64 + 2 * 96 + 4 * 32));
}

TEST_CASE("every work at odd sizes is timed, checked and right, and a row too large is skipped") {
  SteadyOptions options;
  for (const Work work : {Work::scores, Work::standard, Work::fused, Work::decode, Work::gemm})
    options.contenders.push_back({work, std::string(name_of(work))});
  options.modifiers.causal = true;
  options.modifiers.softcap = 20;
  options.sampler.repetitions = 2;
  options.sampler.min_sample_s = 0;
  options.sampler.min_sample_ticks = 1;
  const Ceilings ceilings{};
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    RowStream stream(options.seed);
    const TimingPoint point{67, 81, 24, 17, 33, 4, 2, 2, precision};
    for (const SteadyRow& row : measure_point(options, point, stream, ceilings)) {
      INFO(row.contender.algorithm << ": " << row.reason);
      CHECK(row.status == Status::passed);
      CHECK(row.timed());
      CHECK(row.peak_bytes > 0);
      CHECK_FALSE(row.output_hash.empty());
    }
    const TimingPoint huge{Index{1} << 40, Index{1} << 40, 8, 8, 8, 1, 1, 1, precision};
    for (const SteadyRow& row : measure_point(options, huge, stream, ceilings)) {
      CHECK(row.status == Status::skipped);
      CHECK(row.reason.find("memory") != std::string::npos);
    }
  }
}

TEST_CASE("a row that fails leaves the stream behind its numbers, and says what became of it") {
  const auto position_after = [](const std::function<void(RowStream&)>& make) {
    RowStream stream(Seed(3));
    std::optional<RowFailure> failure = try_row(stream, 1000, [&] { make(stream); });
    return std::pair(stream.position(), failure);
  };
  const auto draw = [](RowStream& stream, std::size_t count) {
    std::vector<double> numbers(count);
    stream.generator().fill_standard_normal(numbers);
  };
  const auto [whole, no_failure] = position_after([&](RowStream& stream) { draw(stream, 1000); });
  CHECK_FALSE(no_failure.has_value());
  for (const std::size_t drawn : {0, 1, 700, 1000}) {
    const auto [skipped, memory] = position_after([&](RowStream& stream) {
      draw(stream, drawn);
      throw MemoryError("too large");
    });
    CHECK(skipped == whole);
    CHECK(memory->status == Status::skipped);
    CHECK(memory->reason == "too large");
    const auto [refused, allocation] = position_after([&](RowStream& stream) {
      draw(stream, drawn);
      throw std::bad_alloc();
    });
    CHECK(refused == whole);
    CHECK(allocation->status == Status::skipped);
    const auto [broken, other] = position_after([&](RowStream& stream) {
      draw(stream, drawn);
      throw std::runtime_error("the library says no");
    });
    CHECK(broken == whole);
    CHECK(other->status == Status::error);
    CHECK(other->reason == "the library says no");
  }
  CHECK_THROWS_AS(position_after([](RowStream&) { throw UsageError("no such option"); }), UsageError);
}
