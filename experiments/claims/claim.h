// A claim that an article makes in words, how it is examined here, and what came out.
//
// Each is examined in three steps: measure (whose computation tests can replace by a faulty one) -> plain numbers -> a verdict, which is
// a pure function of these numbers. Its thresholds stand beside that function, and in words in Claim::rule, which --help prints.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/resource_usage.h"
#include "measure/statistics.h"
#include "numpy/seed_sequence.h"
#include "report/report.h"

namespace attn {

enum class ClaimVerdict { holds, in_part, does_not_hold, not_measurable };

// "holds", "holds in part", "does not hold", "not measurable here"
std::string_view name_of(ClaimVerdict verdict);

struct Judged {
  ClaimVerdict verdict = ClaimVerdict::not_measurable;
  std::string reason;
};

// A number that was measured, with what it is about: at = {{"d_k", 64}}. Units end the name.
struct Quantity {
  std::string name;
  Json at = Json::object();
  double value = 0;
  std::optional<double> standard_error = std::nullopt;  // of a mean
  std::optional<double> half_iqr = std::nullopt;        // of a median
  std::optional<double> low = std::nullopt;             // 95 % interval
  std::optional<double> high = std::nullopt;
};

Quantity quantity(std::string name, Json at, const MeanEstimate& estimate);

struct Finding {
  std::string measured;  // one line, with its uncertainty
  Judged judged;
  std::vector<Quantity> quantities = {};
  Status status = Status::passed;          // failed: something was computed wrongly; skipped: did not fit into memory
  std::vector<std::string> warnings = {};  // what a reader must know before he believes it

  // How long rows were timed, and how long other processes kept a processor busy meanwhile.
  double timed_s = 0, others_s = 0;
  LoadByOthers load = {};  // since this was made
};

struct ClaimSettings {
  bool quick = false;
  Seed seed;
  std::optional<std::vector<Json>> peers = std::nullopt;  // rows that scripts/peers/run wrote
};

struct Claim {
  std::string id;
  int document = 0;    // whose words these are
  std::string claim;   // at most ten words of our own
  std::string says;    // what the article says
  std::string rule;    // the verdict's thresholds
  bool varies = true;  // depends on the machine or the moment; else the same in every run
  double seconds = 1;  // about how long it takes, for the progress line
  std::function<Finding(const ClaimSettings&)> examine;
};

// All claims, in the order of the articles' subjects.
std::vector<Claim> all_claims();

}  // namespace attn
