// Judges an attention output: every element against the oracle and its allowance, what is wrong where it is wrong, and whether these inputs
// would have shown the known mistakes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.h"
#include "verify/tolerance.h"

namespace attn {

struct JudgeSettings {
  Tolerance tolerance;
  // Rounds to the type of the output under test, which decides what is equal and what overflows.
  std::function<double(double)> round;
  // The output of `standard` in the same type, for the ratio of errors. Where its data is null, standard attention with weights rounded to
  // the type of the output is computed beside the oracle, as 16-bit kernels do.
  TensorView<const double> standard;
  // Receives the oracle's output of the judged rows, where its data is not null.
  TensorView<double> expected;
  std::size_t most_elements = 11;  // kept of those that differ most
};

// One element (b, h, i, x).
struct JudgedElement {
  Index b = 0, h = 0, i = 0, x = 0;
  double found = 0, expected = 0, allowed = 0;
  double share = 0;  // difference / allowed; infinite where no difference would be allowed
};

struct RowPosition {
  Index b = 0, h = 0, i = 0;
};

struct MistakeVerdict {
  enum class Sight { shows, blind, same };  // same: no mistake for these shapes
  std::string name, hint;
  Sight sight = Sight::blind;
};

// A known mistake that explains all rows that are wrong.
struct Match {
  std::string name;
  RowPosition first;      // wrong row
  double difference = 0;  // largest from the mistake's own rows
};

struct Judgement {
  Index rows = 0, elements = 0;
  Index beyond = 0;                  // elements that differ by more than allowed
  Index wrong_rows = 0;              // rows with such elements
  Index from_masked = 0;             // NaN only because 0 NaN or 0 inf of a masked key came in; not among `beyond`
  std::vector<JudgedElement> worst;  // by share, largest first
  std::optional<JudgedElement> nan;  // the first found where there should be none, by (b, h, i, x)
  double largest_share = 0;
  double error = 0, standard_error = 0;  // largest differences from the oracle
  double rounding = 0;                   // half an ulp of the largest expected element
  std::vector<MistakeVerdict> mistakes;
  std::vector<Match> matches;

  // error / standard_error, the latter being at least what rounding the output costs.
  double error_ratio() const;
};

// Query rows to judge of each head: all where all pairs together stay below 2^26, or where `all` is set; else a sample of at least 64,
// which has the first and last ones and those at edges of tiles, and others drawn from `seed`. In rising order.
std::vector<Index> rows_to_judge(const AttentionShape& shape, bool all, std::uint64_t seed);

// Judges the rows `rows` of all heads of `found` (batch, heads, seq_q, head_dim_v), whose own o tensors.o is not looked at. T is float or
// double. Throws UsageError as shape_of and check_options do.
template <class T>
Judgement judge(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, const TensorView<const double>& found,
                const std::vector<Index>& rows, const JudgeSettings& settings);

}  // namespace attn
