#include "claims/timed.h"

#include <algorithm>

#include "machine/error.h"

namespace attn {
namespace {

// Keeps a row that can be used.
void take(std::vector<SteadyRow>& kept, SteadyRow row, Finding& finding) {
  const std::string label = fmt::format("{} n = {}", row.contender.algorithm, row.point.n);
  if (note_timed(finding, label, row.status, row.reason, row.measurement)) kept.push_back(std::move(row));
}

}  // namespace

bool note_timed(Finding& finding, const std::string& label, Status status, const std::string& reason,
                const std::optional<Measurement>& measurement) {
  if (status != Status::passed) {
    finding.status = worse_of(finding.status, status);
    finding.warnings.push_back(fmt::format("{}: {}: {}", label, status_name(status), reason));
    return false;
  }
  if (!measurement || !measurement->summary) return false;
  double timed_ns = 0;
  for (const double sample : measurement->samples_ns) timed_ns += sample * static_cast<double>(measurement->inner_iterations);
  finding.timed_s += timed_ns / 1e9;
  finding.others_s += measurement->others_cores.value_or(0) * timed_ns / 1e9;
  for (const Warning& warning : measurement->warnings) {
    if (warning.kind == WarningKind::load_by_others || warning.kind == WarningKind::above_ceiling) {
      finding.warnings.push_back(fmt::format("{}: {}", label, warning.text));
    }
  }
  return true;
}

TimingPoint square_point(Index n, Index d, Precision precision, Index heads) {
  TimingPoint point;
  point.n = point.n_k = n;
  point.d = point.d_v = d;
  point.heads = point.kv_heads = heads;
  point.precision = precision;
  return point;
}

std::vector<SteadyRow> time_rows(const TimedRequest& request, const Seed& seed, Finding& finding) {
  SteadyOptions options;
  for (const Work work : request.works) options.contenders.push_back({work, std::string(name_of(work))});
  options.points = request.points;
  options.modifiers = request.modifiers;
  options.seed = seed;
  options.sampler.max_time_s = request.max_time_s;
  const Ceilings ceilings = arithmetic_ceilings(request.points);
  RowStream stream(seed);
  std::vector<SteadyRow> kept;
  for (const TimingPoint& point : request.points) {
    for (SteadyRow& row : measure_point(options, point, stream, ceilings)) take(kept, std::move(row), finding);
  }
  return kept;
}

Judged unless_busy(const Judged& judged, double others_cores) {
  if (others_cores <= others_allowed) return judged;
  return {ClaimVerdict::not_measurable,
          fmt::format("other processes kept {:.1f} processors busy meanwhile, so that times say nothing (they would have said: {}, {})",
                      others_cores, name_of(judged.verdict), judged.reason)};
}

void judge_timed(Finding& finding, const Judged& judged) {
  // Rows may be too short to tell, or timed by document 1's protocol, which does not look.
  const double of_rows = finding.timed_s > 0 ? finding.others_s / finding.timed_s : 0;
  const double others_cores = std::max(of_rows, finding.load.average_cores().value_or(0));
  finding.quantities.push_back({"others_cores", Json::object(), others_cores});
  finding.judged = unless_busy(judged, others_cores);
}

Json row_place(const SteadyRow& row) {
  Json at = {{"algorithm", row.contender.algorithm}, {"dtype", name_of(row.point.precision)}, {"n", row.point.n}};
  if (row.point.heads != 1) at["heads"] = row.point.heads;
  return at;
}

Quantity time_quantity(Json at, const Measurement& measurement) {
  Quantity quantity{"time_s", std::move(at), measurement.summary->median / 1e9};
  if (measurement.noise) quantity.half_iqr = measurement.summary->half_iqr / 1e9;
  return quantity;
}

Quantity time_quantity(const SteadyRow& row) { return time_quantity(row_place(row), *row.measurement); }

FittedExponent fit_exponent(const std::vector<double>& sizes, const std::vector<double>& values) {
  const auto fit = fit_growth(sizes, values);
  if (!fit || !fit->exponent_low) throw MemoryError("claims: growth: expected three sizes that could be timed, found fewer");
  return {fit->exponent, *fit->exponent_low, *fit->exponent_high};
}

Quantity exponent_quantity(const std::string& name, Json at, const FittedExponent& fit) {
  return {name, std::move(at), fit.exponent, {}, {}, fit.low, fit.high};
}

std::string exponent_text(const FittedExponent& fit) {
  return fmt::format("{:.2f} (95 %: {:.2f} to {:.2f})", fit.exponent, fit.low, fit.high);
}

std::string caution_text(const std::vector<LimitedExponent>& exponents) {
  for (const LimitedExponent& exponent : exponents) {
    for (const double limit : exponent.limits) {
      if (exponent.fit.low < limit && limit < exponent.fit.high) return "; a 95 % interval reaches across a limit";
    }
  }
  return "";
}

}  // namespace attn
