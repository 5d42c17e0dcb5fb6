// Judgements of outputs through the code of `attn check`.
#pragma once

#include "experiments/user_calls.h"
#include "user_tensors/output_precision.h"
#include "verify/judge.h"

namespace attn {

template <class T>
Judgement judge_call(const AttentionCall<T>& call, const Tensor& output) {
  const Matrix<double> found = output.to_matrix<double>();
  Tensor unused(dtype_of<T>(), call.output_arrangement.shape());
  JudgeSettings settings;
  const Dtype dtype = output.dtype();
  settings.tolerance = tolerance_for(dtype, dtype_of<T>(), {});
  settings.round = [dtype](double value) { return rounded_to(dtype, value); };
  return judge(call.tensors(unused.as<T>().data()), call.options, call.output_arrangement.view(found.data()),
               rows_to_judge(call.shape, true, 0), settings);
}

inline Judgement judge_user_call(const CallInputs& inputs, const CallOptions& options, const Tensor& output) {
  if (compute_dtype(inputs, options) == Dtype::f64) return judge_call(make_call<double>(inputs, options), output);
  return judge_call(make_call<float>(inputs, options), output);
}

}  // namespace attn
