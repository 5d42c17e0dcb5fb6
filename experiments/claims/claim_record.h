// A claim's finding as a record, as text, and back from an earlier run's record.
#pragma once

#include "claims/claim.h"

namespace attn {

struct ExaminedClaim {
  Claim claim;
  Finding finding;
  std::string command;  // that examines this claim alone
  double seconds = 0;   // that it took
};

Row claim_record(const ExaminedClaim& examined);

// Six lines, an empty one before them unless `first`.
Text claim_text(const ExaminedClaim& examined, bool first);

// The finding of a record that an earlier run wrote; only its verdict, words and numbers.
ExaminedClaim restored_claim(const Claim& claim, const Json& record);

}  // namespace attn
