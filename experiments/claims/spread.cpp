#include "claims/spread.h"

#include <algorithm>
#include <cmath>

#include "report/uncertainty.h"

namespace attn {
namespace {

constexpr double errors_allowed = 3;   // standard errors
constexpr double part_allowed = 0.05;  // of sqrt(d_k)

double root_of(Index d_k) { return std::sqrt(static_cast<double>(d_k)); }

std::string name_of(Entries entries) { return entries == Entries::normal ? "Gaussian" : "uniform"; }

Finding examine_spread(const ClaimSettings& settings) {
  const ScalingOptions options = scaling_options(settings);
  const std::vector<SpreadPoint> points = measure_spread(options);
  Finding finding;
  double furthest = 0;
  std::string normal;
  for (const SpreadPoint& point : points) {
    const Json at = {{"entries", name_of(point.entries)}, {"d_k", point.d_k}, {"trials", options.trials}};
    finding.quantities.push_back(quantity("std_of_scores", at, point.std));
    finding.quantities.push_back({"distance_standard_errors", at, point.distance()});
    furthest = std::max(furthest, std::abs(point.distance()));
    if (point.entries != Entries::normal) continue;
    normal += (normal.empty() ? "" : ", ") + with_uncertainty(point.std.mean, point.std.standard_error);
  }
  finding.measured = fmt::format("d_k = {}: {}; with uniform entries too at most {:.1f} standard errors from √d_k",
                                 fmt::join(options.d_k, ", "), normal, furthest);
  finding.judged = judge_spread(points);
  return finding;
}

}  // namespace

double SpreadPoint::distance() const { return (std.mean - root_of(d_k)) / std.standard_error; }

ScalingOptions scaling_options(const ClaimSettings& settings) {
  ScalingOptions options;
  options.seed = settings.seed;
  return options;
}

std::vector<SpreadPoint> measure_spread(const ScalingOptions& options, const ScoreSource& scores) {
  const ScoreSource source = scores ? scores : [](Generator& generator, Index d_k, Index trials, Index seq, Entries entries) {
    return draw_scores(generator, d_k, trials, seq, false, entries).scores;
  };
  std::vector<SpreadPoint> points;
  for (const Entries entries : {Entries::normal, Entries::uniform}) {
    Generator generator = default_rng(options.seed);
    for (const Index d_k : options.d_k) {
      points.push_back({entries, d_k, deviation_of(source(generator, d_k, options.trials, options.seq, entries))});
    }
  }
  return points;
}

Judged judge_spread(const std::vector<SpreadPoint>& points) {
  const SpreadPoint* worst = &points.front();
  bool near = true;
  for (const SpreadPoint& point : points) {
    if (std::abs(point.distance()) > std::abs(worst->distance())) worst = &point;
    near = near && std::abs(point.std.mean / root_of(point.d_k) - 1) < part_allowed;
  }
  if (std::abs(worst->distance()) < errors_allowed) {
    return {ClaimVerdict::holds,
            "as the expected value of any sample: √d_k lies within 3 standard errors everywhere, but no sample hits it exactly"};
  }
  const std::string where =
      fmt::format("at d_k = {} ({} entries) it is {:.1f} standard errors off", worst->d_k, name_of(worst->entries), worst->distance());
  if (near) return {ClaimVerdict::in_part, where + ", though everywhere within 5 %"};
  return {ClaimVerdict::does_not_hold, where};
}

Claim spread_claim() {
  return {
      "spread",
      1,
      "the scores' standard deviation is √d_k",
      "exactly √d_k: 2, 4, 8, 16, 32",
      fmt::format("holds: |std - √d_k| < {} standard errors at every d_k, for Gaussian and uniform entries; in part: everywhere within {} "
                  "% of √d_k; otherwise it does not hold",
                  errors_allowed, 100 * part_allowed),
      false,
      1,
      examine_spread};
}

}  // namespace attn
