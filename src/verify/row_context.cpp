#include "verify/row_context.h"

#include "attention/visibility.h"

namespace attn {
namespace {

template <class T>
std::vector<double> allowance(const RowContext<T>& context, const std::vector<double>& weights, const std::vector<double>& output,
                              MatrixView<const T> values, double scores_factor) {
  std::vector<double> magnitudes =
      score_magnitudes(context.tensors, context.options, context.b, context.h, context.i, std::span<const double>(weights));
  for (double& magnitude : magnitudes) magnitude *= scores_factor;
  return allowed_differences<T>(values, weights, output, magnitudes, context.tolerance);
}

}  // namespace

template <class T>
ExpectedRow row_of_weights(const RowContext<T>& context, const std::vector<OracleType<T>>& weights, MatrixView<const T> values,
                           double scores_factor) {
  using A = OracleType<T>;
  std::vector<A> sums(static_cast<std::size_t>(context.shape.head_dim_v));
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] == A(0)) continue;
    const T* row = values.row(static_cast<Index>(j));
    for (std::size_t x = 0; x < sums.size(); ++x) sums[x] = sums[x] + weights[j] * static_cast<A>(row[x]);
  }
  ExpectedRow result{as_doubles(sums), {}};
  result.allowed = allowance(context, as_doubles(weights), result.output, values, scores_factor);
  return result;
}

template <class T>
ExpectedRow row_of_scores(const RowContext<T>& context, std::vector<OracleType<T>> scores, double scores_factor) {
  OracleRow<T> row;
  row.masked = std::move(scores);
  reference_softmax(row);
  return row_of_weights(context, row.weights, context.values(), scores_factor);
}

template <class T>
std::vector<OracleType<T>> remasked(const RowContext<T>& context, const AttentionOptions<T>& other) {
  using A = OracleType<T>;
  const auto [b, h, i] = std::tuple(context.b, context.h, context.i);
  std::vector<A> scores(context.row.capped);
  for (Index j = 0; j < context.shape.seq_k; ++j) {
    A& score = scores[static_cast<std::size_t>(j)];
    if (!is_visible(context.shape, other, b, h, i, j)) {
      score = -std::numeric_limits<A>::infinity();
    } else if (other.mask.additive != nullptr) {
      score = score + static_cast<A>(other.mask.additive[other.mask.row_offset(b, h, i) + j * other.mask.key_stride]);
    }
  }
  return scores;
}

template <class T>
ExpectedRow right_row(const RowContext<T>& context) {
  ExpectedRow result{as_doubles(context.row.output), {}};
  result.allowed = allowance(context, as_doubles(context.row.weights), result.output, context.values(), 1);
  return result;
}

template ExpectedRow row_of_weights(const RowContext<float>&, const std::vector<OracleType<float>>&, MatrixView<const float>, double);
template ExpectedRow row_of_weights(const RowContext<double>&, const std::vector<OracleType<double>>&, MatrixView<const double>, double);
template ExpectedRow row_of_scores(const RowContext<float>&, std::vector<OracleType<float>>, double);
template ExpectedRow row_of_scores(const RowContext<double>&, std::vector<OracleType<double>>, double);
template std::vector<OracleType<float>> remasked(const RowContext<float>&, const AttentionOptions<float>&);
template std::vector<OracleType<double>> remasked(const RowContext<double>&, const AttentionOptions<double>&);
template ExpectedRow right_row(const RowContext<float>&);
template ExpectedRow right_row(const RowContext<double>&);

}  // namespace attn
