// The list of claims, and a finding's way into a record and back.
#include <set>

#include "catch.h"
#include "claims/claim_record.h"
#include "options/split.h"

using namespace attn;

namespace {

ExaminedClaim example() {
  Finding finding;
  finding.measured = "1.5 ± 0.1";
  finding.judged = {ClaimVerdict::in_part, "only here"};
  finding.quantities = {{"ratio", {{"n", 512}}, 1.5, 0.1, std::nullopt, 1.3, 1.7}, {"time_s", Json::object(), 2, std::nullopt, 0.25}};
  Claim claim{"some", 2, "a claim", "\"words\"", "a rule", true, 1, nullptr};
  return {claim, finding, "attn claims --only some", 3.5};
}

Json json_of(const Row& row) {
  Json json;
  for (const Field& field : row.fields()) json[field.name] = field.value;
  return json;
}

}  // namespace

TEST_CASE("every claim says what it is in at most ten words, whose it is, and by which rule it is judged", "[claims]") {
  std::set<std::string> ids;
  for (const Claim& claim : all_claims()) {
    INFO(claim.id);
    CHECK(ids.insert(claim.id).second);
    CHECK((claim.document == 1 || claim.document == 2));
    CHECK(split(claim.claim, ' ').size() <= 10);
    CHECK_FALSE(claim.says.empty());
    CHECK_FALSE(claim.rule.empty());
    CHECK(claim.examine != nullptr);
  }
  for (const char* id : {"spread", "saturation", "scaled-constant", "gradients", "training", "quadratic", "heads", "no-peek", "last-row",
                         "first-row", "pytorch", "fused", "dispatch", "kv-cache", "sparse", "bottleneck"}) {
    CHECK(ids.count(id) == 1);
  }
}

TEST_CASE("a finding comes back from its record as it was", "[claims]") {
  const ExaminedClaim examined = example();
  const Json record = json_of(claim_record(examined));
  CHECK(record["verdict"] == "holds in part");
  CHECK(record["numbers"][0] ==
        Json({{"quantity", "ratio"}, {"at", {{"n", 512}}}, {"value", 1.5}, {"standard_error", 0.1}, {"low", 1.3}, {"high", 1.7}}));
  const ExaminedClaim restored = restored_claim(examined.claim, record);
  CHECK(json_of(claim_record(restored)) == record);
  CHECK(claim_text(restored, true).str() == claim_text(examined, true).str());
}

TEST_CASE("what varies between runs is measured, the rest exact", "[claims]") {
  ExaminedClaim examined = example();
  CHECK(claim_record(examined).find("verdict")->measured);
  examined.claim.varies = false;
  CHECK_FALSE(claim_record(examined).find("verdict")->measured);
  CHECK(claim_record(examined).find("seconds")->measured);
}
