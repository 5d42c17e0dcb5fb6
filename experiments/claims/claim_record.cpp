#include "claims/claim_record.h"

#include <utility>

#include "machine/error.h"

namespace attn {
namespace {

constexpr std::pair<ClaimVerdict, std::string_view> verdict_names[] = {{ClaimVerdict::holds, "holds"},
                                                                       {ClaimVerdict::in_part, "holds in part"},
                                                                       {ClaimVerdict::does_not_hold, "does not hold"},
                                                                       {ClaimVerdict::not_measurable, "not measurable here"}};

ClaimVerdict verdict_of(std::string_view name) {
  for (const auto& [verdict, known] : verdict_names) {
    if (name == known) return verdict;
  }
  throw UsageError(fmt::format("--resume: verdict: expected one that attn writes, found '{}'", name));
}

// The optional members of a quantity by name.
template <class AnyQuantity, class Visit>
void for_each_uncertainty(AnyQuantity& quantity, const Visit& visit) {
  visit("standard_error", quantity.standard_error);
  visit("half_iqr", quantity.half_iqr);
  visit("low", quantity.low);
  visit("high", quantity.high);
}

Json quantity_json(const Quantity& quantity) {
  Json json = {{"quantity", quantity.name}, {"at", quantity.at}, {"value", quantity.value}};
  for_each_uncertainty(quantity, [&json](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  });
  return json;
}

Quantity quantity_of(const Json& json) {
  Quantity quantity{json.at("quantity"), json.at("at"), json.at("value").is_null() ? 0 : json.at("value").get<double>()};
  for_each_uncertainty(quantity, [&json](const char* name, std::optional<double>& value) {
    if (json.contains(name) && json[name].is_number()) value = json[name].get<double>();
  });
  return quantity;
}

}  // namespace

std::string_view name_of(ClaimVerdict verdict) {
  for (const auto& [known, name] : verdict_names) {
    if (verdict == known) return name;
  }
  return "";
}

Quantity quantity(std::string name, Json at, const MeanEstimate& estimate) {
  return {std::move(name), std::move(at), estimate.mean, estimate.standard_error};
}

Row claim_record(const ExaminedClaim& examined) {
  const auto& [claim, finding, command, seconds] = examined;
  Json numbers = Json::array();
  for (const Quantity& quantity : finding.quantities) numbers.push_back(quantity_json(quantity));
  Row row;
  const auto add = [&row, varies = claim.varies](const char* name, Json value) {
    if (varies) {
      row.measured(name, std::move(value));
    } else {
      row.exact(name, std::move(value));
    }
  };
  row.exact("id", claim.id).exact("document", claim.document).exact("claim", claim.claim);
  add("measured", finding.measured);
  row.exact("says", claim.says);
  add("verdict", name_of(finding.judged.verdict));
  add("reason", finding.judged.reason);
  add("numbers", std::move(numbers));
  row.exact("repro", command).measured("seconds", seconds);
  add("status", status_name(finding.status));
  return row;
}

Text claim_text(const ExaminedClaim& examined, bool first) {
  const auto& [claim, finding, command, seconds] = examined;
  const Cell cell = claim.varies ? Cell::measured : Cell::exact;
  Text text;
  if (!first) text.line();
  text.line(fmt::format("{} (document {}): ", claim.id, claim.document)).add(name_of(finding.judged.verdict), cell);
  text.line("  claim     " + claim.claim);
  text.line("  measured  ").add(finding.measured, cell);
  text.line("  article   " + claim.says);
  text.line("  because   ").add(finding.judged.reason, cell);
  text.line("  alone     " + command);
  return text;
}

ExaminedClaim restored_claim(const Claim& claim, const Json& record) {
  Finding finding;
  finding.measured = record.at("measured");
  finding.judged = {verdict_of(record.at("verdict").get<std::string>()), record.at("reason")};
  for (const Json& json : record.at("numbers")) finding.quantities.push_back(quantity_of(json));
  finding.status = record.at("status") == "passed" ? Status::passed : Status::failed;
  return {claim, std::move(finding), record.at("repro"), record.at("seconds")};
}

}  // namespace attn
