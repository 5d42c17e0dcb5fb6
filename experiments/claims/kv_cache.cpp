#include "claims/kv_cache.h"

#include <algorithm>
#include <array>
#include <map>

#include "generate_sweep.h"
#include "machine/memory_limit.h"

namespace attn {
namespace {

constexpr double linear_exponent = 1.4;     // at most, with a cache
constexpr double quadratic_exponent = 1.6;  // at least, without
constexpr double worthwhile_speedup = 2;

GenerationOptions options_for(const ClaimSettings& settings) {
  GenerationOptions options;
  options.points = (settings.quick ? ModelAxes{{16, 32, 64}, {256}, {4}} : ModelAxes{{64, 128, 256, 512}}).points();
  options.seed = settings.seed;
  options.sampler.max_time_s = settings.quick ? 0.2 : 1;
  return options;
}

// What both ways took at the sizes where both were timed.
struct BothTimes {
  std::vector<double> n, uncached_s, cached_s;
};

BothTimes both_times(const std::map<Index, std::array<std::optional<double>, 2>>& times_s) {
  BothTimes both;
  for (const auto& [n, time_s] : times_s) {
    if (!time_s[0] || !time_s[1]) continue;
    both.n.push_back(static_cast<double>(n));
    both.uncached_s.push_back(*time_s[0]);
    both.cached_s.push_back(*time_s[1]);
  }
  return both;
}

Finding examine_kv_cache(const ClaimSettings& settings) { return kv_cache_finding(measure_generation(options_for(settings)).rows); }

}  // namespace

Finding kv_cache_finding(const std::vector<GenerationRow>& rows) {
  Finding finding;
  std::map<Index, std::array<std::optional<double>, 2>> times_s;  // without and with a cache
  KvCacheNumbers numbers;
  numbers.right = true;
  Index cache_bytes = 0;
  for (const GenerationRow& row : rows) {
    const std::string label = fmt::format("{} n = {}", name_of(row.way), row.point.n);
    numbers.right = numbers.right && row.status != Status::failed;
    if (!note_timed(finding, label, row.status, row.reason, row.measurement)) continue;
    times_s[row.point.n][row.way == GenerationWay::uncached ? 0 : 1] = row.median_s();
    cache_bytes = std::max(cache_bytes, row.cache_bytes);
    const Json at = {{"algorithm", name_of(row.way)}, {"n", row.point.n}, {"d_model", row.point.d_model}};
    finding.quantities.push_back(time_quantity(at, *row.measurement));
    finding.quantities.push_back({"time_per_token_s", at, row.per_token_s()});
    finding.quantities.push_back({"cache_bytes", at, static_cast<double>(row.cache_bytes)});
    finding.quantities.push_back({"share_of_allowed_difference", at, row.largest_share});
  }
  if (!numbers.right) {  // whatever the times are, and however busy the machine was
    finding.measured = "outputs differ from the reference's";
    finding.judged = judge_kv_cache(numbers);
    return finding;
  }
  const BothTimes both = both_times(times_s);
  numbers.uncached_time = fit_exponent(both.n, both.uncached_s);
  numbers.cached_time = fit_exponent(both.n, both.cached_s);
  numbers.speedup = both.uncached_s.back() / both.cached_s.back();
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"algorithm", "no-cache"}}, numbers.uncached_time));
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"algorithm", "kv-cache"}}, numbers.cached_time));
  finding.quantities.push_back({"speedup", {{"n", both.n.back()}}, numbers.speedup});
  finding.measured = fmt::format(
      "n = {:g} to {:g}, {}: time grows as n^{} without a cache, n^{} with one; at n = {:g} {:.3g} s and {:.3g} s, "
      "a cache of {}; outputs agree",
      both.n.front(), both.n.back(), model_text(rows.front().point), exponent_text(numbers.uncached_time),
      exponent_text(numbers.cached_time), both.n.back(), both.uncached_s.back(), both.cached_s.back(),
      format_bytes(static_cast<std::uint64_t>(cache_bytes)));
  judge_timed(finding, judge_kv_cache(numbers));
  return finding;
}

Judged judge_kv_cache(const KvCacheNumbers& numbers) {
  if (!numbers.right) return {ClaimVerdict::does_not_hold, "the outputs are wrong"};
  const std::string found =
      fmt::format("{:.3g} times as fast at the largest n; time grows as n^{:.2f} instead of n^{:.2f}{}", numbers.speedup,
                  numbers.cached_time.exponent, numbers.uncached_time.exponent,
                  caution_text({{numbers.cached_time, {linear_exponent}}, {numbers.uncached_time, {quadratic_exponent}}}));
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
