#include "verify/judge_row.h"

#include <cmath>

#include "attention/visibility.h"

namespace attn {
namespace {

// Whether a masked key holds a NaN or infinity that reaches column x of the row where 0 times it is added up.
template <class T>
bool masked_poison(const RowContext<T>& c, Index x) {
  const MatrixView<const T> values = c.values();
  for (Index j = 0; j < c.shape.seq_k; ++j) {
    if (is_visible(c.shape, c.options, c.b, c.h, c.i, j)) continue;
    if (!std::isfinite(static_cast<double>(values(j, x))) || !std::isfinite(static_cast<double>(c.row.raw[static_cast<std::size_t>(j)])))
      return true;
  }
  return false;
}

// Largest error of standard attention that keeps its weights and output in the type that `round` rounds to.
template <class T>
double rounded_standard_error(const RowContext<T>& c, const ExpectedRow& right, const std::function<double(double)>& round) {
  const MatrixView<const T> values = c.values();
  std::vector<double> sums(right.output.size());
  for (Index j = 0; j < c.shape.seq_k; ++j) {
    const double p = round(static_cast<double>(c.row.weights[static_cast<std::size_t>(j)]));
    if (p == 0) continue;
    for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += p * static_cast<double>(values(j, static_cast<Index>(x)));
  }
  double error = 0;
  for (std::size_t x = 0; x < sums.size(); ++x) {
    const double difference = std::abs(round(sums[x]) - right.output[x]);
    if (std::isfinite(difference)) error = std::max(error, difference);
  }
  return error;
}

template <class T>
double standard_error(const RowContext<T>& c, const ExpectedRow& right, const JudgeSettings& settings) {
  if (settings.standard.data == nullptr) return rounded_standard_error(c, right, settings.round);
  const double* row = settings.standard.head(c.b, c.h).row(c.i);
  double error = 0;
  for (std::size_t x = 0; x < right.output.size(); ++x) {
    const double difference = std::abs(row[x] - right.output[x]);
    if (std::isfinite(difference)) error = std::max(error, difference);
  }
  return error;
}

// Differences from the oracle, element by element.
template <class T>
void judge_elements(const RowContext<T>& c, const ExpectedRow& right, const double* found, const JudgeSettings& settings,
                    RowVerdict& verdict) {
  using A = OracleType<T>;
  for (std::size_t x = 0; x < right.output.size(); ++x) {
    JudgedElement element{c.b, c.h, c.i, static_cast<Index>(x), found[x], right.output[x], right.allowed[x], 0};
    element.share = share_of(element.found, element.expected, element.allowed, settings.round);
    if (std::isnan(element.found) && !std::isnan(element.expected)) {
      if (masked_poison(c, element.x)) {
        ++verdict.from_masked;
        continue;
      }
      if (!verdict.nan) verdict.nan = element;
    }
    // In the oracle's own type: float64 outputs differ from it in digits that a double has not.
    const double difference = std::abs(static_cast<double>(A(element.found) - c.row.output[x]));
    if (std::isfinite(difference)) verdict.error = std::max(verdict.error, difference);
    if (std::isfinite(element.expected)) verdict.largest_expected = std::max(verdict.largest_expected, std::abs(element.expected));
    if (element.share > 1) ++verdict.beyond;
    if (element.share > 0) verdict.worst.push_back(element);
  }
}

// Whether every element of `output` lies within the allowance of `row`; the largest difference goes to `difference`.
bool is_row(const double* output, const ExpectedRow& row, const std::function<double(double)>& round, double& difference) {
  for (std::size_t x = 0; x < row.output.size(); ++x) {
    if (share_of(output[x], row.output[x], row.allowed[x], round) > 1) return false;
    const double d = std::abs(output[x] - row.output[x]);
    if (std::isfinite(d)) difference = std::max(difference, d);
  }
  return true;
}

}  // namespace

template <class T>
RowVerdict judge_row(const AttentionTensors<T>& tensors, const AttentionShape& shape, const AttentionOptions<T>& options,
                     const TensorView<const double>& found, const RowPosition& at, const JudgeSettings& settings,
                     const std::vector<KnownMistake<T>>& mistakes, const std::vector<char>& undecided, const std::vector<char>& can_match) {
  const auto oracle = reference_row<OracleType<T>, T>(shape, tensors.q, tensors.k, tensors.v, options, at.b, at.h, at.i);
  const RowContext<T> context{tensors, shape, options, settings.tolerance, at.b, at.h, at.i, oracle};
  const ExpectedRow right = right_row(context);
  const double* row = found.head(at.b, at.h).row(at.i);
  RowVerdict verdict;
  judge_elements(context, right, row, settings, verdict);
  keep_worst(verdict.worst, settings.most_elements);
  verdict.standard_error = standard_error(context, right, settings);
  if (settings.expected.data != nullptr) std::copy(right.output.begin(), right.output.end(), settings.expected.head(at.b, at.h).row(at.i));
  verdict.mistakes.resize(mistakes.size());
  for (std::size_t m = 0; m < mistakes.size(); ++m) {
    const bool wanted = undecided[m] != 0 || (verdict.beyond > 0 && can_match[m] != 0);
    if (!wanted || !mistakes[m].make) continue;
    const std::optional<ExpectedRow> wrong = mistakes[m].make(context);
    if (!wrong) continue;
    RowVerdict::OfMistake& of_mistake = verdict.mistakes[m];
    double ignored = 0;
    of_mistake.made = true;
    of_mistake.shows = !is_row(wrong->output.data(), right, settings.round, ignored);
    of_mistake.matches = is_row(row, *wrong, settings.round, of_mistake.difference);
  }
  return verdict;
}

template RowVerdict judge_row(const AttentionTensors<float>&, const AttentionShape&, const AttentionOptions<float>&,
                              const TensorView<const double>&, const RowPosition&, const JudgeSettings&,
                              const std::vector<KnownMistake<float>>&, const std::vector<char>&, const std::vector<char>&);
template RowVerdict judge_row(const AttentionTensors<double>&, const AttentionShape&, const AttentionOptions<double>&,
                              const TensorView<const double>&, const RowPosition&, const JudgeSettings&,
                              const std::vector<KnownMistake<double>>&, const std::vector<char>&, const std::vector<char>&);

}  // namespace attn
