// Claims `no-peek`, `last-row` and `first-row`: what a causal mask hides, and what it leaves as it was.
//
// On problems of random sizes, one head each, in both types:
//   no-peek    keys and values after a random position i are replaced; then the output's rows 0..i must stay equal to the bit, and every
//              later row, which sees at least key i + 1, must change
//   last-row   the last query sees every key: its weights and output with and without the mask are compared bit by bit
//   first-row  the first query sees itself alone: its weight is 1, its other weights are 0 and its output is v_0, to the bit
//
// Source: document 2's and document 1's words on the causal mask, and document 1's figure.
#pragma once

#include <string>
#include <vector>

#include "claims/attend.h"
#include "claims/claim.h"

namespace attn {

struct PeekCount {
  std::string algorithm, dtype;
  Index problems = 0;
  Index rows_before = 0, changed_before = 0;  // rows 0..i, and how many changed in any bit
  Index rows_after = 0, unchanged_after = 0;  // rows after i, and how many did not
};

template <class T>
PeekCount count_peeks(const std::string& algorithm, const Attend<T>& attend, Index problems, const Seed& seed);

Judged judge_no_peek(const std::vector<PeekCount>& counts);

// Rows that should be the same: of weights or output, over random problems.
struct RowAgreement {
  std::string what;  // "output of fused"
  std::string dtype;
  Index problems = 0;
  Index identical = 0;  // to the bit
  double largest_difference = 0;
};

// Weights too where `has_weights`.
template <class T>
std::vector<RowAgreement> compare_last_rows(const std::string& algorithm, const Attend<T>& attend, bool has_weights, Index problems,
                                            const Seed& seed);
template <class T>
std::vector<RowAgreement> compare_first_rows(const std::string& algorithm, const Attend<T>& attend, bool has_weights, Index problems,
                                             const Seed& seed);

// In part: what float32 rounds of averages of normal values.
inline constexpr double rounding_of_rows = 1e-5;

Judged judge_agreement(const std::vector<RowAgreement>& agreements);

Claim no_peek_claim();
Claim last_row_claim();
Claim first_row_claim();

}  // namespace attn
