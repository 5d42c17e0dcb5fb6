#include "claims/fused_speed.h"

#include <algorithm>

#include "claims/peers.h"
#include "claims/timed.h"
#include "machine/memory_limit.h"
#include "measure/bootstrap.h"

namespace attn {
namespace {

constexpr double stated_ratio = 2;
constexpr Index width = 64;
constexpr int bootstrap_draws = 2000;
constexpr std::uint64_t bootstrap_seed = 20220527;

bool same_series(const SpeedPoint& a, const SpeedPoint& b) { return a.whose == b.whose && a.dtype == b.dtype && a.causal == b.causal; }

std::string name_of(const SpeedPoint& point) {
  return fmt::format("{}{}{}", point.whose == "attn" ? "" : point.whose + " ", point.dtype, point.causal ? " causal" : "");
}

SpeedPoint speed_of(const SteadyRow& standard, const SteadyRow& fused, bool causal) {
  const auto interval =
      bootstrap_median_ratio(fused.measurement->samples_ns, standard.measurement->samples_ns, 0.95, bootstrap_draws, bootstrap_seed);
  return {"attn",
          std::string(attn::name_of(standard.point.precision)),
          causal,
          standard.point.n,
          standard.median_s() / fused.median_s(),
          interval.low,
          interval.high,
          static_cast<double>(standard.peak_bytes),
          static_cast<double>(fused.peak_bytes)};
}

// Larger n twice over, for their memory traffic is what fusing saves.
std::vector<SpeedPoint> time_series(Precision precision, bool causal, const ClaimSettings& settings, Finding& finding) {
  TimedRequest request{{}, {Work::standard, Work::fused}};
  request.modifiers.causal = causal;
  request.max_time_s = settings.quick ? 0.1 : 1;
  for (Index n = 512; n <= (settings.quick ? 2048 : 8192); n *= 2) request.points.push_back(square_point(n, width, precision));
  std::vector<SpeedPoint> points;
  const std::vector<SteadyRow> rows = time_rows(request, settings.seed, finding);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    finding.quantities.push_back(time_quantity(rows[i]));
    finding.quantities.back().at["causal"] = causal;
    if (i == 0 || rows[i].contender.work != Work::fused || rows[i - 1].point.n != rows[i].point.n) continue;
    points.push_back(speed_of(rows[i - 1], rows[i], causal));
  }
  return points;
}

std::vector<SpeedPoint> peer_points(const std::vector<Json>& rows) {
  std::vector<SpeedPoint> points;
  for (const PeerProblem& problem : pytorch_problems(rows)) {
    if (!problem.plain || !problem.fused) continue;
    const auto interval =
        bootstrap_median_ratio(problem.fused->samples_ns, problem.plain->samples_ns, 0.95, bootstrap_draws, bootstrap_seed);
    points.push_back({"pytorch", problem.dtype, problem.causal, problem.n, problem.plain->median_s() / problem.fused->median_s(),
                      interval.low, interval.high, problem.plain->peak_bytes, problem.fused->peak_bytes});
  }
  return points;
}

void add_quantities(Finding& finding, const std::vector<SpeedPoint>& points) {
  for (const SpeedPoint& point : points) {
    const Json at = {{"whose", point.whose}, {"dtype", point.dtype}, {"causal", point.causal}, {"n", point.n}};
    finding.quantities.push_back({"plain_over_fused", at, point.ratio, {}, {}, point.low, point.high});
    if (point.plain_bytes) finding.quantities.push_back({"plain_peak_bytes", at, *point.plain_bytes});
    if (point.fused_bytes) finding.quantities.push_back({"fused_peak_bytes", at, *point.fused_bytes});
  }
}

std::string measured_text(const std::vector<SpeedPoint>& points) {
  std::string text;
  for (const SpeedPoint& last : largest_points(points)) {
    const auto from = crossing(points, last);
    text += fmt::format("{}{} n = {}: {:.2f} times ({:.2f} to {:.2f}), {}", text.empty() ? "" : "; ", name_of(last), last.n, last.ratio,
                        last.low, last.high, from ? fmt::format("2 from n = {}", *from) : "never 2");
    if (last.plain_bytes && last.fused_bytes) {
      text += fmt::format(", {} against {}", format_bytes(static_cast<std::uint64_t>(*last.fused_bytes)),
                          format_bytes(static_cast<std::uint64_t>(*last.plain_bytes)));
    }
  }
  return text;
}

Finding examine_fused(const ClaimSettings& settings) {
  Finding finding;
  std::vector<SpeedPoint> points;
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    for (const bool causal : {false, true}) {
      for (SpeedPoint& point : time_series(precision, causal, settings, finding)) points.push_back(std::move(point));
    }
  }
  if (settings.peers) {
    for (SpeedPoint& point : peer_points(*settings.peers)) points.push_back(std::move(point));
  }
  add_quantities(finding, points);
  finding.measured = measured_text(points);
  judge_timed(finding, judge_fused(points));
  return finding;
}

}  // namespace

std::vector<SpeedPoint> largest_points(const std::vector<SpeedPoint>& points) {
  std::vector<SpeedPoint> largest;
  for (const SpeedPoint& point : points) {
    const auto known = std::find_if(largest.begin(), largest.end(), [&](const SpeedPoint& other) { return same_series(point, other); });
    if (known == largest.end()) {
      largest.push_back(point);
    } else if (point.n > known->n) {
      *known = point;
    }
  }
  return largest;
}

std::optional<Index> crossing(const std::vector<SpeedPoint>& points, const SpeedPoint& series) {
  std::vector<SpeedPoint> own;
  std::copy_if(points.begin(), points.end(), std::back_inserter(own), [&](const SpeedPoint& point) { return same_series(point, series); });
  std::sort(own.begin(), own.end(), [](const SpeedPoint& a, const SpeedPoint& b) { return a.n > b.n; });
  std::optional<Index> from;
  for (const SpeedPoint& point : own) {
    if (point.ratio < stated_ratio) break;
    from = point.n;
  }
  return from;
}

Judged judge_fused(const std::vector<SpeedPoint>& points) {
  std::vector<std::string> below, slower, more_memory;
  const std::vector<SpeedPoint> largest = largest_points(points);
  if (largest.empty()) return {ClaimVerdict::not_measurable, "no problem could be timed"};
  for (const SpeedPoint& point : largest) {
    if (point.ratio < stated_ratio) below.push_back(fmt::format("{:.2f} in {}", point.ratio, name_of(point)));
    if (point.ratio <= 1) slower.push_back(name_of(point));
    if (point.plain_bytes && point.fused_bytes && *point.fused_bytes >= *point.plain_bytes) more_memory.push_back(name_of(point));
  }
  if (!slower.empty()) return {ClaimVerdict::does_not_hold, fmt::format("fused is not faster in {}", fmt::join(slower, ", "))};
  if (below.size() == largest.size()) return {ClaimVerdict::does_not_hold, fmt::format("faster, but only {}", fmt::join(below, ", "))};
  if (!more_memory.empty())
    return {ClaimVerdict::in_part, fmt::format("fused does not take less memory in {}", fmt::join(more_memory, ", "))};
  if (!below.empty()) return {ClaimVerdict::in_part, fmt::format("faster everywhere, but only {} times", fmt::join(below, ", "))};
  return {ClaimVerdict::holds, "at the largest n at least 2 times as fast in every setting, and with less memory"};
}

Claim fused_claim() {
  return {"fused",
          2,
          "fused attention is 2–4x faster and needs less memory",
          "a fused kernel: 2–4x the speed, with less memory",
          fmt::format(
              "at the largest n, holds: at least {:g} times as fast and less memory with both types, causal or not, and with --peers in "
              "PyTorch's rows too; in part: in some of them, and faster in all; otherwise it does not hold",
              stated_ratio),
          true,
          40,
          examine_fused};
}

}  // namespace attn
