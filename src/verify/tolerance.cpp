#include "verify/tolerance.h"

#include <cmath>
#include <limits>

namespace attn {

namespace {

// The finite additive mask of key j, else 0.
template <class T>
double added(const AttentionOptions<T>& options, Index b, Index h, Index i, Index j) {
  const MaskView<T>& mask = options.mask;
  if (mask.additive == nullptr || j >= mask.keys) return 0;
  const double value = static_cast<double>(mask.additive[mask.row_offset(b, h, i) + j * mask.key_stride]);
  return std::isfinite(value) ? value : 0;
}

}  // namespace

template <class T>
Tolerance tolerance_of() {
  const double half_ulp = std::numeric_limits<T>::epsilon() / 2;
  return {half_ulp, half_ulp, Tolerance().c, static_cast<double>(std::numeric_limits<T>::denorm_min()) / 2};
}

template <class T>
std::vector<double> score_magnitudes(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h, Index i,
                                     std::span<const double> weights) {
  const AttentionShape shape = shape_of(tensors);
  const double scale = std::abs(softmax_scale_of(shape, options));
  const T* query = tensors.q.head(b, h).row(i);
  const MatrixView<const T> keys = tensors.k.head(b, shape.kv_head_of(h));
  std::vector<double> magnitudes(weights.size());
  for (Index j = 0; j < shape.seq_k; ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (weights[at] == 0) continue;
    double products = 0;
    for (Index t = 0; t < shape.head_dim; ++t) products += std::abs(static_cast<double>(query[t]) * static_cast<double>(keys(j, t)));
    magnitudes[at] = scale * products + std::abs(added(options, b, h, i, j));
  }
  return magnitudes;
}

template <class T>
std::vector<double> allowed_differences(MatrixView<const T> values, std::span<const double> weights, std::span<const double> output,
                                        std::span<const double> magnitudes, const Tolerance& tolerance) {
  const std::size_t width = output.size();
  std::vector<double> weighted_values(width);  // sum_j p_j |v_jx|
  std::vector<double> weighted_errors(width);  // sum_j p_j |v_jx - o*| magnitude_j
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const double p = std::abs(weights[j]);
    if (p == 0) continue;
    const T* row = values.row(static_cast<Index>(j));
    const double error = p * magnitudes[j];
    for (std::size_t x = 0; x < width; ++x) {
      const double v = static_cast<double>(row[x]);
      weighted_values[x] += p * std::abs(v);
      weighted_errors[x] += error * std::abs(v - output[x]);
    }
  }
  std::vector<double> allowed(width);
  for (std::size_t x = 0; x < width; ++x) {
    allowed[x] = tolerance.eps_out * (std::abs(output[x]) + weighted_values[x]) + tolerance.tiny +
                 tolerance.c * tolerance.eps_acc * (weighted_values[x] + weighted_errors[x]);
  }
  return allowed;
}

template <class T>
std::vector<double> allowed_differences(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h, Index i,
                                        const OracleRow<T>& row, const Tolerance& tolerance) {
  const AttentionShape shape = shape_of(tensors);
  const std::vector<double> weights = as_doubles(row.weights);
  const std::vector<double> output = as_doubles(row.output);
  const std::vector<double> magnitudes = score_magnitudes(tensors, options, b, h, i, weights);
  return allowed_differences<T>(tensors.v.head(b, shape.kv_head_of(h)), weights, output, magnitudes, tolerance);
}

template Tolerance tolerance_of<float>();
template Tolerance tolerance_of<double>();
template std::vector<double> allowed_differences(const AttentionTensors<float>&, const AttentionOptions<float>&, Index, Index, Index,
                                                 const OracleRow<float>&, const Tolerance&);
template std::vector<double> allowed_differences(const AttentionTensors<double>&, const AttentionOptions<double>&, Index, Index, Index,
                                                 const OracleRow<double>&, const Tolerance&);

template std::vector<double> score_magnitudes(const AttentionTensors<float>&, const AttentionOptions<float>&, Index, Index, Index,
                                              std::span<const double>);
template std::vector<double> allowed_differences(MatrixView<const float>, std::span<const double>, std::span<const double>,
                                                 std::span<const double>, const Tolerance&);
template std::vector<double> score_magnitudes(const AttentionTensors<double>&, const AttentionOptions<double>&, Index, Index, Index,
                                              std::span<const double>);
template std::vector<double> allowed_differences(MatrixView<const double>, std::span<const double>, std::span<const double>,
                                                 std::span<const double>, const Tolerance&);

}  // namespace attn
