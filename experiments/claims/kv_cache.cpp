#include "claims/kv_cache.h"

#include <algorithm>

#include "generate_sweep.h"
#include "machine/memory_limit.h"

namespace attn {
namespace {

constexpr double linear_exponent = 1.4;     // at most, with a cache
constexpr double quadratic_exponent = 1.6;  // at least, without
constexpr double worthwhile_speedup = 2;

GenerationOptions options_for(const ClaimSettings& settings) {
  ModelAxes axes{settings.quick ? std::vector<Index>{16, 32, 64} : std::vector<Index>{64, 128, 256, 512}};
  if (settings.quick) axes.d_model = {256};
  if (settings.quick) axes.heads = {4};
  GenerationOptions options;
  options.points = axes.points();
  options.seed = settings.seed;
  options.sampler.max_time_s = settings.quick ? 0.2 : 1;
  return options;
}

struct Series {
  std::vector<double> n, time_s;
};

Finding examine_kv_cache(const ClaimSettings& settings) {
  const GenerationOptions options = options_for(settings);
  Finding finding;
  Series uncached, cached;
  KvCacheNumbers numbers;
  numbers.right = true;
  Index cache_bytes = 0;
  for (const GenerationRow& row : measure_generation(options).rows) {
    const std::string label = fmt::format("{} n = {}", name_of(row.way), row.point.n);
    numbers.right = numbers.right && row.status != Status::failed;
    if (!note_timed(finding, label, row.status, row.reason, row.measurement)) continue;
    Series& series = row.way == GenerationWay::uncached ? uncached : cached;
    series.n.push_back(static_cast<double>(row.point.n));
    series.time_s.push_back(row.median_s());
    cache_bytes = std::max(cache_bytes, row.cache_bytes);
    const Json at = {{"algorithm", name_of(row.way)}, {"n", row.point.n}, {"d_model", row.point.d_model}};
    finding.quantities.push_back(time_quantity(at, *row.measurement));
    finding.quantities.push_back({"time_per_token_s", at, row.per_token_s()});
    finding.quantities.push_back({"cache_bytes", at, static_cast<double>(row.cache_bytes)});
    finding.quantities.push_back({"share_of_allowed_difference", at, row.largest_share});
  }
  numbers.uncached_time = fit_exponent(uncached.n, uncached.time_s);
  numbers.cached_time = fit_exponent(cached.n, cached.time_s);
  numbers.speedup = uncached.time_s.back() / cached.time_s.back();
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"algorithm", "no-cache"}}, numbers.uncached_time));
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"algorithm", "kv-cache"}}, numbers.cached_time));
  finding.quantities.push_back({"speedup", {{"n", uncached.n.back()}}, numbers.speedup});
  finding.measured = fmt::format(
      "n = {:g} to {:g}, {}: time grows as n^{} without a cache, n^{} with one; at n = {:g} {:.3g} s and {:.3g} s, "
      "a cache of {}; outputs {}",
      uncached.n.front(), uncached.n.back(), model_text(options.points.front()), exponent_text(numbers.uncached_time),
      exponent_text(numbers.cached_time), uncached.n.back(), uncached.time_s.back(), cached.time_s.back(),
      format_bytes(static_cast<std::uint64_t>(cache_bytes)), numbers.right ? "agree" : "differ");
  judge_timed(finding, judge_kv_cache(numbers));
  return finding;
}

}  // namespace

Judged judge_kv_cache(const KvCacheNumbers& numbers) {
  if (!numbers.right) return {ClaimVerdict::does_not_hold, "the outputs are wrong"};
  const std::string found = fmt::format("{:.3g} times as fast at the largest n; time grows as n^{:.2f} instead of n^{:.2f}",
                                        numbers.speedup, numbers.cached_time.exponent, numbers.uncached_time.exponent);
  if (numbers.speedup < worthwhile_speedup) return {ClaimVerdict::does_not_hold, found};
  const bool grows_so = numbers.cached_time.exponent <= linear_exponent && numbers.uncached_time.exponent >= quadratic_exponent;
  return {grows_so ? ClaimVerdict::holds : ClaimVerdict::in_part, found};
}

Claim kv_cache_claim() {
  return {"kv-cache",
          2,
          "caching keys and values makes generation affordable",
          "caches of keys and values are one of the ways to long contexts",
          fmt::format("holds: both ways give the same outputs, a cache is {:g} times as fast at the largest n, and time grows at most as "
                      "n^{:g} with it and at least as n^{:g} without; in part: all but the growth; otherwise it does not hold",
                      worthwhile_speedup, linear_exponent, quadratic_exponent),
          true,
          20,
          examine_kv_cache};
}

}  // namespace attn
