// Keys or values with those of the past before them, as ONNX's operator Attention joins past_key and key into present_key.
#pragma once

#include "user_tensors/arrangement.h"

namespace attn {

struct JoinedPast {
  Tensor tensor;  // in the past's layout and type
  Arrangement arrangement;
  Index past = 0;  // keys of the past
};

// `present`, arranged as `arrangement`, behind `past`. The past has the layout of `present`, but (batch, heads, seq, dim) where it has 4
// dimensions and `present` is packed. Throws UsageError naming both tensors and both shapes where batch, heads, dim or type differ.
JoinedPast join_past(const NamedTensor& past, const NamedTensor& present, const Arrangement& arrangement);

}  // namespace attn
