#include <CLI/CLI.hpp>
#include <functional>
#include <new>
#include <set>

#include "catch.h"
#include "machine/error.h"
#include "stream_rows.h"
#include "sweep/axes.h"
#include "timing/measuring_options.h"
#include "timing/problem.h"
#include "timing/steady.h"
#include "timing/steady_report.h"

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

TEST_CASE("what is passed over is drawn only once somebody asks what comes after it") {
  RowStream lazy(Seed(3));
  for (int row = 0; row < 2; ++row) lazy.pass_over(6e10);  // minutes' worth each; together too many even to pass over
  RowStream plain(Seed(3));
  std::vector<double> drawn(300'000), next(5), after(5);
  plain.generator().fill_standard_normal(drawn);
  RowStream stream(Seed(3));
  stream.pass_over(100'000);
  stream.pass_over(200'000);
  CHECK(stream.position() == plain.position());
  plain.generator().fill_standard_normal(next);
  stream.generator().fill_standard_normal(after);
  CHECK(after == next);
  CHECK(lazy.position().is_null());
  CHECK_THROWS_AS(lazy.generator(), MemoryError);
}

namespace {

// Where each line of a table has its separators, counted in characters.
std::set<std::vector<std::size_t>> separators_of(const Text& table) {
  std::set<std::vector<std::size_t>> all;
  for (const Line& line : table.lines()) {
    std::vector<std::size_t> at;
    std::size_t column = 0;
    for (const char c : plain(line)) {
      if (c == '|') at.push_back(column);
      column += (c & 0xC0) != 0x80 ? 1 : 0;
    }
    all.insert(at);
  }
  return all;
}

}  // namespace

TEST_CASE("a table's columns stand below one another, whatever the sizes and names") {
  SteadyOptions options;
  for (const Work work : {Work::fused, Work::gemm}) options.contenders.push_back({work, std::string(name_of(work))});
  options.contenders.push_back({Work::scores, "a library with a long name"});
  options.points = {{8, 8, 8, 8, 8, 1, 1, 1, Precision::f64}, {9, 1025, 123, 9, 7, 12, 4, 3, Precision::f32}};
  options.modifiers.causal = true;
  options.modifiers.softcap = 20;
  Text table;
  RowStream stream(options.seed);
  for (const TimingPoint& point : options.points) {
    options.sampler.repetitions = 1;
    table.append(steady_text(measure_point(options, point, stream, Ceilings{}), options, table.lines().empty()));
  }
  REQUIRE(table.lines().size() == 7);
  INFO(table.str());
  CHECK(separators_of(table).size() == 1);
  CHECK(table.str().find("f64 d=8 causal softcap") != std::string::npos);
  CHECK(table.str().find("f32 d=7 n_k=1025  ") != std::string::npos);  // gemm has neither heads nor a mask
}

TEST_CASE("a ceiling that is exceeded is measured again, one that is not is kept") {
  Ceilings ceilings{};
  CHECK(peak_gflops_for(ceilings, Precision::f32, 5) == 0);  // never measured
  ceilings.f32_all_threads.gflops = 1e-3;                    // in a very slow moment
  ceilings.f64_all_threads.gflops = 1e9;
  CHECK(peak_gflops_for(ceilings, Precision::f32, 1e-4) == 1e-3);
  CHECK(peak_gflops_for(ceilings, Precision::f32, 1e-2) > 1e-2);
  CHECK(peak_gflops_for(ceilings, Precision::f64, 1) == 1e9);
  CHECK(peak_gflops_for(ceilings, Precision::f64, 2e9) == 1e9);  // faster than any measurement: the row's warning stays
}

TEST_CASE("a time is printed with the digits that its noise supports, and never as 0") {
  const auto text = [](std::vector<double> samples_ns) {
    Measurement m;
    m.samples_ns = std::move(samples_ns);
    m.summary = summarize(m.samples_ns);
    if (m.samples_ns.size() >= fewest_for_noise) m.noise = m.summary->relative_noise();
    return time_text(m, Statistic::median);
  };
  CHECK(text({1e6, 2e6, 3e6, 4e6, 5e6}) == "3.0 ± 1.0");
  CHECK(text({0.9e6, 1e6, 1e6, 1e6, 1.01e6}) == "1.0000 ± 0.0000");
  CHECK(text({0.1e6, 0.2e6, 0.4e6, 9e6, 9e6}) == "0.4 ± 4.4");
  CHECK(text({400e6, 400e6}) == "400");
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
