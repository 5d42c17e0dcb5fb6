// What `attn check` says of a judgement.
#pragma once

#include <optional>

#include "report/report.h"
#include "user_tensors/arrangement.h"
#include "verify/judge.h"

namespace attn {

// What was checked.
struct CheckedCall {
  std::string mask;
  AttentionShape shape;
  Dtype dtype = Dtype::f32;         // of the inputs
  Dtype output_dtype = Dtype::f32;  // of the output under test
  Arrangement arrangement;          // of the output
  std::optional<Dtype> accumulate;
  bool all_rows = true;
  bool strict = false;
  std::string input_hash, output_hash;
};

enum class CheckVerdict { pass, marginal, fail };

// FAIL where an element differs by more than it may; MARGINAL where one uses more than half of its allowance, or where the worst error is
// more than twice that of standard attention in the same type; else PASS.
CheckVerdict verdict_of(const Judgement& judgement);

// One block; its status is failed on FAIL and, where strict, on MARGINAL and for mistakes that the inputs would not show.
Report check_report(const CheckedCall& call, const Judgement& judgement, const Tolerance& tolerance);

}  // namespace attn
