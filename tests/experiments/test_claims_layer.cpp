// The claims about a layer: verdicts as functions of numbers, and what a cache that is not appended to does to one.
#include "catch.h"
#include "claims/bottleneck.h"
#include "claims/kv_cache.h"
#include "transformer/both_ways.h"

using namespace attn;

namespace {

FittedExponent fit(double exponent) { return {exponent, exponent - 0.05, exponent + 0.05}; }

ClaimVerdict kv_cache_verdict(double uncached, double cached, double speedup, bool right = true) {
  return judge_kv_cache({fit(uncached), fit(cached), speedup, right}).verdict;
}

Majority from(Index below, Index above) {
  Majority majority;
  if (below > 0) majority.below = below;
  if (above > 0) majority.above = above;
  if (below > 0 && above > 0) majority.n = 0.5 * static_cast<double>(below + above);
  return majority;
}

ClaimVerdict bottleneck_verdict(const Majority& standard, const Majority& fused) {
  return judge_bottleneck({256, 8192, standard, fused}).verdict;
}

}  // namespace

TEST_CASE("kv-cache: as n instead of n^2, and worth it", "[claims]") {
  CHECK(kv_cache_verdict(2.0, 1.0, 50) == ClaimVerdict::holds);
  CHECK(kv_cache_verdict(2.0, 1.5, 50) == ClaimVerdict::in_part);
  CHECK(kv_cache_verdict(1.5, 1.0, 50) == ClaimVerdict::in_part);
  CHECK(kv_cache_verdict(2.0, 1.0, 1.5) == ClaimVerdict::does_not_hold);
  CHECK(kv_cache_verdict(2.0, 1.0, 50, false) == ClaimVerdict::does_not_hold);
}

TEST_CASE("kv-cache: a cache that is not appended to changes the verdict", "[claims]") {
  const auto verdict = [](const BothWays<float>::Meddle& meddle) {
    return kv_cache_verdict(2.0, 1.0, 50, BothWays<float>(40, 32, 2, meddle).compare().right());
  };
  CHECK(verdict({}) == ClaimVerdict::holds);
  CHECK(verdict([](KvCache<float>& cache, Index) { cache.truncate(0); }) == ClaimVerdict::does_not_hold);
  CHECK(verdict([](KvCache<float>& cache, Index t) {
          if (t == 20) cache.truncate(20);
        }) == ClaimVerdict::does_not_hold);
}

TEST_CASE("kv-cache: a wrong row decides, though nothing else could be timed; sizes count that both ways have", "[claims]") {
  const auto row = [](GenerationWay way, Index n, double time_s) {
    GenerationRow made;
    made.way = way;
    made.point.n = n;
    made.measurement.emplace();
    made.measurement->samples_ns = {1e9 * time_s};
    made.measurement->summary = summarize(made.measurement->samples_ns);
    return made;
  };
  std::vector<GenerationRow> rows;
  for (const Index n : {64, 128, 256, 512}) {
    const double size = static_cast<double>(n);
    rows.push_back(row(GenerationWay::uncached, n, 1e-6 * size * size));
    rows.push_back(row(GenerationWay::cached, n, 1e-5 * size));
  }
  const auto speedup = [](const Finding& finding) {
    for (const Quantity& quantity : finding.quantities) {
      if (quantity.name == "speedup") return quantity.value;
    }
    return 0.0;
  };
  CHECK(kv_cache_finding(rows).judged.verdict == ClaimVerdict::holds);
  CHECK(speedup(kv_cache_finding(rows)) == Approx(51.2));
  rows.back().status = Status::skipped;  // the largest n without its partner: the next smaller one is compared
  rows.back().measurement.reset();
  CHECK(speedup(kv_cache_finding(rows)) == Approx(25.6));
  CHECK(kv_cache_finding(rows).status == Status::skipped);
  rows[1].status = Status::failed;
  const Finding wrong = kv_cache_finding(rows);
  CHECK(wrong.judged.verdict == ClaimVerdict::does_not_hold);
  CHECK(wrong.status == Status::failed);
}

TEST_CASE("bottleneck: nothing timed says nothing", "[claims]") {
  CHECK(judge_bottleneck({0, 0, from(0, 0), from(0, 0)}).verdict == ClaimVerdict::not_measurable);
}

TEST_CASE("bottleneck: more than half of a layer's time, and from where on", "[claims]") {
  CHECK(bottleneck_verdict(from(0, 256), from(0, 256)) == ClaimVerdict::holds);
  CHECK(bottleneck_verdict(from(0, 256), from(1024, 2048)) == ClaimVerdict::in_part);
  CHECK(bottleneck_verdict(from(1024, 2048), from(2048, 4096)) == ClaimVerdict::in_part);
  CHECK(bottleneck_verdict(from(4096, 8192), from(8192, 0)) == ClaimVerdict::in_part);
  CHECK(bottleneck_verdict(from(8192, 0), from(8192, 0)) == ClaimVerdict::does_not_hold);
}
