#include "claims/masking.h"

namespace attn {
namespace {

Index problem_count(const ClaimSettings& settings) { return settings.quick ? 20 : 100; }

template <class Count, class Measure>
std::vector<Count> for_all_kernels(const Measure& measure) {
  std::vector<Count> all;
  const auto add = [&all](auto counts) { all.insert(all.end(), counts.begin(), counts.end()); };
  add(measure("standard", standard_attend<float>(), true));
  add(measure("standard", standard_attend<double>(), true));
  add(measure("fused", fused_attend<float>(), false));
  add(measure("fused", fused_attend<double>(), false));
  return all;
}

Finding examine_no_peek(const ClaimSettings& settings) {
  const Index problems = problem_count(settings);
  const auto counts = for_all_kernels<PeekCount>([&](const char* name, const auto& attend, bool) {
    return std::vector<PeekCount>{count_peeks(name, attend, problems, settings.seed)};
  });
  PeekCount sum;
  Finding finding;
  for (const PeekCount& count : counts) {
    sum.rows_before += count.rows_before;
    sum.changed_before += count.changed_before;
    sum.rows_after += count.rows_after;
    sum.unchanged_after += count.unchanged_after;
    const Json at = {{"algorithm", count.algorithm}, {"dtype", count.dtype}, {"problems", count.problems}};
    finding.quantities.push_back({"rows_up_to_i", at, static_cast<double>(count.rows_before)});
    finding.quantities.push_back({"changed_rows_up_to_i", at, static_cast<double>(count.changed_before)});
    finding.quantities.push_back({"rows_after_i", at, static_cast<double>(count.rows_after)});
    finding.quantities.push_back({"unchanged_rows_after_i", at, static_cast<double>(count.unchanged_after)});
  }
  finding.measured = fmt::format(
      "with other keys and values after i, {} of {} rows up to i and {} of {} later rows changed (standard and "
      "fused, both types, {} problems each)",
      sum.changed_before, sum.rows_before, sum.rows_after - sum.unchanged_after, sum.rows_after, problems);
  finding.judged = judge_no_peek(counts);
  return finding;
}

Finding finding_of(const std::vector<RowAgreement>& agreements) {
  Finding finding;
  for (const RowAgreement& agreement : agreements) {
    const Json at = {{"of", agreement.what}, {"dtype", agreement.dtype}, {"problems", agreement.problems}};
    finding.quantities.push_back({"identical_rows", at, static_cast<double>(agreement.identical)});
    finding.quantities.push_back({"largest_difference", at, agreement.largest_difference});
    if (agreement.dtype != "f32") continue;
    finding.measured += fmt::format("{}{} of {} identical in the {}", finding.measured.empty() ? "float32: " : ", ", agreement.identical,
                                    agreement.problems, agreement.what);
  }
  finding.measured += "; float64: ";
  for (const RowAgreement& agreement : agreements) {
    if (agreement.dtype != "f64") continue;
    finding.measured += fmt::format("{}{}", agreement.what == agreements.front().what ? "" : ", ", agreement.identical);
  }
  finding.judged = judge_agreement(agreements);
  return finding;
}

Finding examine_last_row(const ClaimSettings& settings) {
  return finding_of(for_all_kernels<RowAgreement>([&](const char* name, const auto& attend, bool has_weights) {
    return compare_last_rows(name, attend, has_weights, problem_count(settings), settings.seed);
  }));
}

Finding examine_first_row(const ClaimSettings& settings) {
  return finding_of(for_all_kernels<RowAgreement>([&](const char* name, const auto& attend, bool has_weights) {
    return compare_first_rows(name, attend, has_weights, problem_count(settings), settings.seed);
  }));
}

std::string agreement_rule() {
  return fmt::format("holds: the same to the bit in every problem; in part: everywhere within {:g}; otherwise it does not hold",
                     rounding_of_rows);
}

}  // namespace

Claim no_peek_claim() {
  return {
      "no-peek",
      2,
      "token i sees only tokens 0 to i",
      "a position sees itself and those before it",
      "holds: not one bit of rows up to i changes with later keys and values, and every later row changes; in part: a later row does not; "
      "does not hold: a row up to i changes",
      false,
      1,
      examine_no_peek};
}

Claim last_row_claim() {
  return {"last-row",
          1,
          "the mask leaves the last row as it was",
          "the last row is the same with and without the mask",
          agreement_rule(),
          false,
          1,
          examine_last_row};
}

Claim first_row_claim() {
  return {
      "first-row",      1, "under the mask, token 0 sees only itself", "the first row's only weight is 1.00", agreement_rule(), false, 1,
      examine_first_row};
}

}  // namespace attn
