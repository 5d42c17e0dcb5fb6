#include "claims/vanishing.h"

#include "claims/spread.h"
#include "report/uncertainty.h"

namespace attn {
namespace {

// Shares of rows without an entry above 0.001 in their Jacobian, at the largest d_k.
constexpr double nearly_all_rows = 0.9;
constexpr double most_rows = 0.5;
constexpr double few_rows = 0.01;

std::string text_of(const MeanEstimate& estimate) { return with_uncertainty(estimate.mean, estimate.standard_error); }

void add_quantities(std::vector<Quantity>& all, const GradientRow& row, Index trials) {
  const Json at = {{"d_k", row.d_k}, {"softmax_scale", row.scale}, {"trials", trials}};
  all.push_back(quantity("jacobian_norm", at, row.jacobian_norm));
  all.push_back(quantity("largest_entry", at, row.largest_entry));
  all.push_back(quantity("flat_rows", at, row.flat_rows));
  all.push_back(quantity("query_gradient", at, row.query_gradient));
  all.push_back({"query_gradient_median", at, row.query_gradient_median});
}

Finding examine_gradients(const ClaimSettings& settings) {
  const ScalingOptions options = scaling_options(settings);
  const std::vector<GradientPair> pairs = gradient_pairs(options);
  Finding finding;
  for (const GradientPair& pair : pairs) {
    add_quantities(finding.quantities, pair.unscaled, options.trials);
    add_quantities(finding.quantities, pair.scaled, options.trials);
  }
  const GradientRow& raw = pairs.back().unscaled;
  const GradientRow& scaled = pairs.back().scaled;
  finding.measured = fmt::format(
      "d_k = {}: Jacobian's norm {} (scaled {}), {} % of its rows below 0.001 (scaled {:g} %), gradient of q {}, median {:.2g} (scaled {}, "
      "median {:.2g})",
      raw.d_k, text_of(raw.jacobian_norm), text_of(scaled.jacobian_norm),
      with_uncertainty(100 * raw.flat_rows.mean, 100 * raw.flat_rows.standard_error), 100 * scaled.flat_rows.mean,
      text_of(raw.query_gradient), raw.query_gradient_median, text_of(scaled.query_gradient), scaled.query_gradient_median);
  finding.judged = judge_gradients(pairs);
  return finding;
}

Finding examine_training(const ClaimSettings&) {
  return {
      "nothing",
      {ClaimVerdict::not_measurable,
       "it takes two trainings of a model of many layers and 10^8 or more parameters that differ in the scale alone, on the same data and "
       "seeds, until one converges and the other has not: days of accelerators, a corpus and a backward pass, none of which is here"}};
}

}  // namespace

Judged judge_gradients(const std::vector<GradientPair>& pairs) {
  const GradientRow& raw = pairs.back().unscaled;
  const GradientRow& scaled = pairs.back().scaled;
  const std::string where = fmt::format("at d_k = {}", raw.d_k);
  if (scaled.flat_rows.mean >= few_rows) return {ClaimVerdict::does_not_hold, "scaled, gradients vanish as well " + where};
  std::string found = fmt::format("{} in {:.0f} % of rows no gradient above 0.001 is left", where, 100 * raw.flat_rows.mean);
  if (raw.flat_rows.mean <= most_rows) return {ClaimVerdict::does_not_hold, found};
  if (raw.query_gradient.mean >= scaled.query_gradient.mean) {
    found += fmt::format("; but the few others keep the query's mean gradient at {:.2f}, scaled {:.2f}", raw.query_gradient.mean,
                         scaled.query_gradient.mean);
    return {ClaimVerdict::in_part, found};
  }
  return {raw.flat_rows.mean > nearly_all_rows ? ClaimVerdict::holds : ClaimVerdict::in_part, found};
}

Claim gradients_claim() {
  return {
      "gradients",
      1,
      "without scaling, the softmax's gradients vanish",
      "the other tokens' gradients vanish",
      fmt::format(
          "at the largest d_k, holds: over {:g} % of the Jacobians have no entry above 0.001, scaled under {:g} %, and the query's mean "
          "gradient is smaller than scaled; in part: over {:g} %; otherwise it does not hold",
          100 * nearly_all_rows, 100 * few_rows, 100 * most_rows),
      false,
      2,
      examine_gradients};
}

Claim training_claim() {
  return {"training",
          2,
          "without scaling, large models do not train",
          "unscaled, training of large models fails",
          "not measurable here",
          false,
          0,
          examine_training};
}

}  // namespace attn
