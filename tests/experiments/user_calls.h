// Calls of attention on the tensors in data/, through the code of `attn run`.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "io/tensor.h"
#include "user_tensors/attention_call.h"
#include "user_tensors/run_call.h"

namespace attn {

// The outputs of a call in the type that `attn run` would compute it in.
inline CallOutputs run_user_call(const CallInputs& inputs, const CallOptions& options, Algorithm algorithm, const WantedOutputs& wanted) {
  if (compute_dtype(inputs, options) == Dtype::f64) return run_call(make_call<double>(inputs, options), algorithm, wanted);
  return run_call(make_call<float>(inputs, options), algorithm, wanted);
}

inline std::vector<double> values_of(const Tensor& tensor) {
  const Matrix<double> matrix = tensor.to_matrix<double>();
  return {matrix.data(), matrix.data() + matrix.size()};
}

// As numpy.testing.assert_allclose: |found - expected| <= atol + rtol |expected|, the same infinities, the same NaN. The number of
// elements that are not.
inline Index count_beyond(const Tensor& found, const Tensor& expected, double rtol, double atol) {
  const std::vector<double> a = values_of(found);
  const std::vector<double> b = values_of(expected);
  if (a.size() != b.size()) return static_cast<Index>(std::max(a.size(), b.size()));
  Index beyond = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    beyond += !same && !(std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i])) ? 1 : 0;
  }
  return beyond;
}

}  // namespace attn
