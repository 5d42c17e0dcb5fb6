// A call of attention on tensors from files: read, checked against each other, and made a problem in the type it is computed in.
#pragma once

#include <optional>
#include <string>

#include "attention/problem.h"
#include "io/tensor.h"
#include "user_tensors/arrangement.h"
#include "user_tensors/call_options.h"

namespace attn {

// The tensors as the files have them.
struct CallInputs {
  NamedTensor q, k, v;
  std::optional<NamedTensor> mask, past_k, past_v, kv_lengths;
};

// Throws FileError, MemoryError.
CallInputs read_inputs(const CallOptions& options);

// Fingerprint of their elements as the files have them: q, k, v, then those of the others that are there.
std::string input_hash(const CallInputs& inputs);

// What a call is computed in: float32 for float16, bfloat16 and float32 inputs, float64 for float64 ones and where the options ask for it.
// Throws UsageError where q, k and v are not of one floating-point type, or where the options ask for less than that.
Dtype compute_dtype(const CallInputs& inputs, const CallOptions& options);

// The call in T (float or double), which owns what its views look at.
template <class T>
struct AttentionCall {
  AttentionShape shape;
  AttentionOptions<T> options;
  Dtype dtype = Dtype::f32;        // of q, and so of the output
  Arrangement output_arrangement;  // q's, with v's dim
  // Elements of T; k and v with the past before them.
  Tensor q = Tensor(dtype_of<T>(), {0}), k = Tensor(dtype_of<T>(), {0}), v = Tensor(dtype_of<T>(), {0});
  std::optional<Tensor> mask;  // of bool or T
  TensorView<const T> q_view, k_view, v_view;
  std::optional<Tensor> present_k, present_v;  // k and v with the past before them, in the files' own type; only where there is a past

  // With an output of T behind `o`, in output_arrangement.
  AttentionTensors<T> tensors(T* o) const { return {q_view, k_view, v_view, output_arrangement.view(o)}; }
};

// Throws UsageError in one line that names both tensors and both shapes where they do not fit, and for options that contradict each other
// or would be ignored.
template <class T>
AttentionCall<T> make_call(const CallInputs& inputs, const CallOptions& options);

// What is said of the mask and the positions in a report: "none", "causal, offset 4", "bool mask, window 2,0, key lengths".
template <class T>
std::string mask_text(const AttentionCall<T>& call);

}  // namespace attn
