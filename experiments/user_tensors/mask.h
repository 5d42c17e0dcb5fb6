// A mask from a file, broadcast to (batch, heads, seq_q, seq_k) by NumPy's rules.
#pragma once

#include "user_tensors/attention_call.h"

namespace attn {

// Sets call.mask and call.options.mask. A last dimension between 1 and seq_k leaves the other keys out, as ONNX has it; one of 1 stands
// for all keys. Throws UsageError naming the mask, q and k with their shapes where it does not fit; for integers, with a hint.
template <class T>
void set_mask(const NamedTensor& mask, const NamedTensor& q, const NamedTensor& k, AttentionCall<T>& call);

}  // namespace attn
