#include "verify/tolerance.h"

#include <cmath>
#include <limits>

namespace attn {

template <class T>
Tolerance tolerance_of() {
  const double half_ulp = std::numeric_limits<T>::epsilon() / 2;
  return {half_ulp, half_ulp};
}

template <class T>
std::vector<double> allowed_differences(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h, Index i,
                                        const OracleRow<T>& row, const Tolerance& tolerance) {
  const AttentionShape shape = shape_of(tensors);
  const double scale = std::abs(softmax_scale_of(shape, options));
  const T* query = tensors.q.head(b, h).row(i);
  const MatrixView<const T> keys = tensors.k.head(b, shape.kv_head_of(h));
  const MatrixView<const T> values = tensors.v.head(b, shape.kv_head_of(h));
  const auto width = static_cast<std::size_t>(shape.head_dim_v);
  std::vector<double> weighted_values(width);  // sum_j p_j |v_jx|
  std::vector<double> weighted_errors(width);  // sum_j p_j |v_jx - o*| scale sum_t |q_it k_jt|
  for (Index j = 0; j < shape.seq_k; ++j) {
    const double p = static_cast<double>(row.weights[static_cast<std::size_t>(j)]);
    if (p == 0) continue;
    double products = 0;
    for (Index t = 0; t < shape.head_dim; ++t) products += std::abs(static_cast<double>(query[t]) * static_cast<double>(keys(j, t)));
    for (std::size_t x = 0; x < width; ++x) {
      const double v = static_cast<double>(values(j, static_cast<Index>(x)));
      weighted_values[x] += p * std::abs(v);
      weighted_errors[x] += p * std::abs(v - static_cast<double>(row.output[x])) * scale * products;
    }
  }
  std::vector<double> allowed(width);
  for (std::size_t x = 0; x < width; ++x) {
    allowed[x] = tolerance.eps_out * (std::abs(static_cast<double>(row.output[x])) + weighted_values[x]) +
                 tolerance.c * tolerance.eps_acc * (weighted_values[x] + weighted_errors[x]);
  }
  return allowed;
}

template Tolerance tolerance_of<float>();
template Tolerance tolerance_of<double>();
template std::vector<double> allowed_differences(const AttentionTensors<float>&, const AttentionOptions<float>&, Index, Index, Index,
                                                 const OracleRow<float>&, const Tolerance&);
template std::vector<double> allowed_differences(const AttentionTensors<double>&, const AttentionOptions<double>&, Index, Index, Index,
                                                 const OracleRow<double>&, const Tolerance&);

}  // namespace attn
