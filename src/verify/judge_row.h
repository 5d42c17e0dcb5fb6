// The judgement of one row.
#pragma once

#include <algorithm>

#include "verify/judge.h"
#include "verify/known_mistakes.h"

namespace attn {

// What one row brings to a Judgement.
struct RowVerdict {
  struct OfMistake {
    bool made = false;     // the mistake changes this row
    bool shows = false;    // and visibly
    bool matches = false;  // the found row is the mistake's
    double difference = 0;
  };
  Index beyond = 0, from_masked = 0;
  std::vector<JudgedElement> worst;
  std::optional<JudgedElement> nan;
  double error = 0, standard_error = 0, largest_expected = 0;
  std::vector<OfMistake> mistakes;
};

// |found - expected| / allowed, with what NaN and infinity demand; 0 where `found` is `expected` rounded.
inline double share_of(double found, double expected, double allowed, const std::function<double(double)>& round) {
  if (found == round(expected) || (std::isnan(found) && std::isnan(expected))) return 0;
  const double difference = std::abs(found - expected);
  const bool within = difference == 0 || difference <= allowed;
  if (allowed > 0 && std::isfinite(allowed) && std::isfinite(difference)) return difference / allowed;
  return within && std::isfinite(difference) ? 0 : std::numeric_limits<double>::infinity();
}

// Elements of `worst` by their share, largest first, in order of position where equal; no more than `most`.
inline void keep_worst(std::vector<JudgedElement>& worst, std::size_t most) {
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  if (worst.size() > most) worst.resize(most);
}

// Judges the row (b, h, i) of `found`. Mistakes are tried where `undecided` is set, or where they can still match and the row is wrong.
template <class T>
RowVerdict judge_row(const AttentionTensors<T>& tensors, const AttentionShape& shape, const AttentionOptions<T>& options,
                     const TensorView<const double>& found, const RowPosition& at, const JudgeSettings& settings,
                     const std::vector<KnownMistake<T>>& mistakes, const std::vector<char>& undecided, const std::vector<char>& can_match);

}  // namespace attn
