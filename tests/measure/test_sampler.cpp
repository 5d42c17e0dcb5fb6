// The sampler, in simulated time: a clock that only the bodies and sleep() advance.

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "machine/error.h"
#include "measure/sampler.h"

using namespace attn;

namespace {

// Time that passes only where it is told to, and a diary of what happened.
struct World {
  std::int64_t now_ns = 0;
  std::int64_t tick_ns = 1;  // the clock moves on by one tick at every reading
  double others_s = 0;       // CPU time of others
  double others_rate = 0;    // processors that they use
  std::optional<bool> scaling;
  std::string diary;
  std::atomic<bool> stop{false};

  void pass(double ns) {
    now_ns += static_cast<std::int64_t>(std::llround(ns));
    others_s += others_rate * ns * 1e-9;
  }

  SamplerOptions options() {
    SamplerOptions options;
    options.clock = [this] { return (now_ns += tick_ns) / tick_ns * tick_ns; };
    options.sleep = [this](double seconds) {
      diary += "|";
      pass(1e9 * seconds);
    };
    options.others_cpu_s = [this] { return std::optional(others_s); };
    options.frequency_scaling_enabled = [this] { return scaling; };
    options.stop = &stop;
    return options;
  }

  // A body that takes durations_ns in turn, the last one for ever after.
  TimedBody body(const std::string& name, std::vector<double> durations_ns, const std::string& pool = "") {
    auto calls = std::make_shared<std::size_t>(0);
    return {name,
            [this, name, durations_ns, calls](int) {
              diary += name;
              pass(durations_ns[std::min((*calls)++, durations_ns.size() - 1)]);
            },
            2, pool};
  }
};

bool has(const Measurement& result, WarningKind kind) {
  for (const Warning& warning : result.warnings) {
    if (warning.kind == kind) return true;
  }
  return false;
}

constexpr double ms = 1e6;

}  // namespace

TEST_CASE("a steady body stops at five samples after its warm-up") {
  World world;
  const Measurement result = measure(world.body("a", {9 * ms, 2 * ms}), world.options());
  CHECK(result.stop_reason == StopReason::noise);
  CHECK(result.samples_ns.size() == 5);
  REQUIRE(result.warm_up_ns.size() == 1);
  CHECK(result.warm_up_ns[0] == Approx(9 * ms));
  CHECK(result.summary->median == Approx(2 * ms));
  CHECK(result.inner_iterations == 1);
  CHECK(*result.noise == Approx(0).margin(1e-6));
  CHECK(result.warnings.empty());
  CHECK(name_of(result.stop_reason) == "noise");
}

TEST_CASE("noise goes on until it is small or the time is up") {
  World world;
  // Two unlike times in turn keep the quartiles apart; then steady ones close in.
  std::vector<double> unsteady(21, 2 * ms);
  for (std::size_t i = 0; i < unsteady.size(); i += 2) unsteady[i] = 3 * ms;
  unsteady.push_back(3 * ms);
  const Measurement calmed = measure(world.body("a", unsteady), world.options());
  CHECK(calmed.stop_reason == StopReason::noise);
  CHECK(calmed.samples_ns.size() > 30);
  CHECK(*calmed.noise < 0.02);

  std::vector<double> restless;
  for (int i = 0; i < 10000; ++i) restless.push_back(i % 2 == 0 ? 2 * ms : 3 * ms);
  SamplerOptions options = world.options();
  options.max_time_s = 0.5;
  const Measurement late = measure(world.body("a", restless), options);
  CHECK(late.stop_reason == StopReason::time);
  CHECK(late.samples_ns.size() >= 195);  // 0.5 s of 2.5 ms, the warm-up among them
  CHECK(late.samples_ns.size() <= 201);
  CHECK(has(late, WarningKind::noise));
}

TEST_CASE("repetitions are taken exactly, however small the noise") {
  World world;
  SamplerOptions options = world.options();
  options.repetitions = 12;
  const Measurement result = measure(world.body("a", {2 * ms}), options);
  CHECK(result.stop_reason == StopReason::repetitions);
  CHECK(result.samples_ns.size() == 12);

  options.repetitions = 3;
  const Measurement few = measure(world.body("a", {2 * ms, 1 * ms, 5 * ms}), options);
  CHECK(few.samples_ns.size() == 3);
  CHECK_FALSE(few.noise.has_value());  // too few to speak of noise
  CHECK_FALSE(has(few, WarningKind::noise));
  CHECK(few.summary.has_value());
}

TEST_CASE("a body longer than the time still gives one sample") {
  World world;
  SamplerOptions options = world.options();
  options.max_time_s = 1;
  const Measurement result = measure(world.body("a", {3000 * ms}), options);
  CHECK(result.samples_ns.size() == 1);
  CHECK(result.stop_reason == StopReason::time);
}

TEST_CASE("short bodies are repeated within a sample") {
  World world;
  int calls = 0;
  TimedBody body{"short", [&](int) { ++calls, world.pass(1000); }};
  const Measurement result = measure(body, world.options());
  CHECK(result.inner_iterations >= 1000);  // a microsecond each, a millisecond in all
  CHECK(result.inner_iterations <= 1300);
  for (const double each : result.samples_ns) CHECK(each == Approx(1000).epsilon(0.01));
  CHECK(result.warm_up_ns.size() < 10);

  // A cold first run must not make the samples too short.
  const Measurement cold = measure(world.body("cold", {5 * ms, 0.4 * ms}), world.options());
  CHECK(cold.inner_iterations == 3);
  CHECK(cold.summary->median == Approx(0.4 * ms));
}

TEST_CASE("one absurdly short reading does not make samples absurdly long") {
  World world;
  const Measurement result = measure(world.body("a", {100, 2 * ms}), world.options());
  CHECK(result.inner_iterations <= 10);
}

TEST_CASE("a coarse clock makes samples of a hundred ticks") {
  World world;
  world.tick_ns = 1000000;
  const Measurement result = measure(world.body("a", {3 * ms}), world.options());
  CHECK(static_cast<double>(result.inner_iterations) * 3 * ms >= 100 * ms);
}

TEST_CASE("a body without any duration ends") {
  World world;
  world.tick_ns = 1000000;
  std::int64_t calls = 0;
  SamplerOptions options = world.options();
  options.clock = [&calls, tick = std::int64_t{0}]() mutable { return tick += calls > 3000000 ? 1000000000 : 1; };
  const Measurement result = measure(TimedBody{"nothing", [&](int) { ++calls; }}, options);
  CHECK(result.samples_ns.size() >= 1);
}

TEST_CASE("input buffers alternate through warm-ups and samples alike") {
  World world;
  std::vector<int> buffers;
  TimedBody body{"a", [&](int buffer) { buffers.push_back(buffer), world.pass(0.3 * ms); }, 3};
  measure(body, world.options());
  for (std::size_t i = 0; i < buffers.size(); ++i) CHECK(buffers[i] == static_cast<int>(i % 3));
  CHECK(buffers.size() > 10);
  body.input_buffers = 1;
  CHECK_THROWS_AS(measure(body, world.options()), UsageError);
}

TEST_CASE("algorithms of one pool take turns") {
  World world;
  SamplerOptions options = world.options();
  options.repetitions = 3;
  const std::vector<TimedBody> bodies{world.body("a", {2 * ms}), world.body("b", {2 * ms}), world.body("c", {2 * ms})};
  const auto results = measure_interleaved(bodies, options);
  CHECK(world.diary == "abcabcabcabc");
  REQUIRE(results.size() == 3);
  CHECK(results[1].name == "b");
  CHECK(results[2].samples_ns.size() == 3);
  CHECK(measure_interleaved(std::vector<TimedBody>{}, options).empty());
}

TEST_CASE("pools take turns in blocks, in alternating order, with a pause between them") {
  World world;
  SamplerOptions options = world.options();
  options.repetitions = 4;
  options.block_samples = 2;
  const std::vector<TimedBody> bodies{world.body("a", {2 * ms}, "ours"), world.body("x", {2 * ms}, "theirs"),
                                      world.body("b", {2 * ms}, "ours")};
  const std::int64_t start = world.now_ns;
  const auto results = measure_interleaved(bodies, options);
  // A wake-up, then two samples; theirs twice in a row needs neither.
  CHECK(world.diary == "ababab|xxxxx|ababab");
  for (const Measurement& result : results) CHECK(result.samples_ns.size() == 4);
  CHECK(results[0].warm_up_ns.size() == 2);
  CHECK(results[1].warm_up_ns.size() == 1);
  CHECK(static_cast<double>(world.now_ns - start) > 400 * ms);  // two pauses of 200 ms
}

TEST_CASE("a request to stop drops the run in progress and keeps the samples") {
  World world;
  int calls = 0;
  TimedBody body{"a", [&](int) {
                   world.pass(2 * ms);
                   if (++calls == 4) world.stop = true;
                 }};
  SamplerOptions options = world.options();
  options.repetitions = 100;
  const Measurement result = measure(body, options);
  CHECK(result.stop_reason == StopReason::interrupted);
  CHECK(calls == 4);
  CHECK(result.samples_ns.size() == 2);

  const auto before_start = measure_interleaved(std::vector<TimedBody>{body, body}, options);
  CHECK(calls == 4);
  CHECK(before_start[1].stop_reason == StopReason::interrupted);
  CHECK_FALSE(before_start[1].summary.has_value());
}

TEST_CASE("load by others and frequency scaling are said where they can be seen") {
  World world;
  SamplerOptions options = world.options();
  options.repetitions = 10;
  const TimedBody body = world.body("a", {100 * ms});
  world.others_rate = 0.7;
  world.scaling = true;
  const Measurement loaded = measure(body, options);
  CHECK(*loaded.others_cores == Approx(0.7).epsilon(0.01));
  CHECK(has(loaded, WarningKind::load_by_others));
  CHECK(has(loaded, WarningKind::frequency_scaling));

  world.others_rate = 0.02;
  world.scaling = std::nullopt;
  CHECK(measure(body, options).warnings.empty());

  options.others_cpu_s = [] { return std::nullopt; };
  CHECK_FALSE(measure(body, options).others_cores.has_value());
  const Measurement brief = measure(world.body("a", {2 * ms}), world.options());
  CHECK_FALSE(brief.others_cores.has_value());  // too short to tell
}

TEST_CASE("a body's exception is passed on") {
  World world;
  CHECK_THROWS_AS(measure(TimedBody{"a", [](int) { throw MemoryError("none left"); }}, world.options()), MemoryError);
}

TEST_CASE("options without sense are usage errors") {
  World world;
  SamplerOptions options = world.options();
  options.repetitions = 0;
  CHECK_THROWS_AS(measure(world.body("a", {ms}), options), UsageError);
  options = world.options();
  options.max_time_s = 0;
  CHECK_THROWS_AS(measure(world.body("a", {ms}), options), UsageError);
}

TEST_CASE("the real clock, sleep and load work together") {
  std::atomic<int> calls{0};
  SamplerOptions options;
  options.repetitions = 2;
  options.pool_pause_s = 0.001;
  const std::vector<TimedBody> bodies{{"a", [&](int) { ++calls; }, 2, "one"}, {"b", [&](int) { ++calls; }, 2, "other"}};
  const auto results = measure_interleaved(bodies, options);
  for (const Measurement& result : results) {
    CHECK(result.samples_ns.size() == 2);
    CHECK(result.samples_ns[0] > 0);
  }
  CHECK(calls > 0);
}
