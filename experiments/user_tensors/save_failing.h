// What failed, kept for whoever looks for the reason.
#pragma once

#include <string>

#include "user_tensors/attention_call.h"

namespace attn {

// Makes `folder` where it is missing and writes q.npy, k.npy, v.npy, those of mask, past_k, past_v and kv_lengths that were given,
// expected.npy (the oracle's output in float64, NaN in rows that were not judged) and found.npy. Throws FileError.
void save_failing(const std::string& folder, const CallInputs& inputs, const Tensor& expected, const Tensor& found);

}  // namespace attn
