// What the timed claims share: rows of the steady protocol, their sizes and their intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "claims/claim.h"
#include "measure/growth.h"
#include "timing/steady.h"

namespace attn {

struct TimedRequest {
  std::vector<TimingPoint> points;
  std::vector<Work> works = {};  // interleaved at each point
  Modifiers modifiers = {};
  double max_time_s = 1;  // of each row's running time
};

// n queries and keys of width d.
TimingPoint square_point(Index n, Index d, Precision precision, Index heads = 1);

// The rows that were timed and are right, point by point, in the order of `works`. Rows that were not are reported in `finding`: its
// status, and a warning with the reason; so is load by others.
std::vector<SteadyRow> time_rows(const TimedRequest& request, const Seed& seed, Finding& finding);

// Takes a row's time and load by others into account. False where it cannot be used: it failed or was skipped, which goes into the
// finding's status and warnings, or was not timed.
bool note_timed(Finding& finding, const std::string& label, Status status, const std::string& reason,
                const std::optional<Measurement>& measurement);

// Processors that others may keep busy on average while a claim is timed; beyond, its times say nothing.
inline constexpr double others_allowed = 0.5;

// The verdict, or that it is not measurable here where others kept more than that many processors busy.
Judged unless_busy(const Judged& judged, double others_cores);

// The same with what `finding` has seen of others, on its rows and since it was begun; puts that among its quantities.
void judge_timed(Finding& finding, const Judged& judged);

// What a row is about, for a Quantity.
Json row_place(const SteadyRow& row);

// The median time of a measurement with samples, with its half-IQR where it has one.
Quantity time_quantity(Json at, const Measurement& measurement);
Quantity time_quantity(const SteadyRow& row);

// Fit of values over sizes with the interval of the exponent. Throws MemoryError where fewer than three sizes could be timed.
struct FittedExponent {
  double exponent = 0, low = 0, high = 0;
};
FittedExponent fit_exponent(const std::vector<double>& sizes, const std::vector<double>& values);
Quantity exponent_quantity(const std::string& name, Json at, const FittedExponent& fit);

// "1.02 (95 %: 0.98 to 1.06)"
std::string exponent_text(const FittedExponent& fit);

// "; a 95 % interval reaches across a limit" where that of one of the fits does, so that another run may judge otherwise; else nothing.
struct LimitedExponent {
  FittedExponent fit;
  std::vector<double> limits;  // the thresholds that its claim's verdict compares it with
};
std::string caution_text(const std::vector<LimitedExponent>& exponents);

}  // namespace attn
