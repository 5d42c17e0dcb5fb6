// Attention as the claims compute it: the library's, or a faulty one that a test puts in its place.
#pragma once

#include <functional>

#include "attention/fused.h"
#include "attention/standard.h"

namespace attn {

// o, and where `weights` (seq_q, seq_k) is given the softmax weights, of one head.
template <class T>
using Attend = std::function<void(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, T* weights)>;

template <class T>
Attend<T> standard_attend() {
  return [](const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, T* weights) {
    StandardOutputs<T> outputs;
    outputs.weights = weights;
    standard_attention<T>(tensors, options, outputs);
  };
}

// Has no weights to give.
template <class T>
Attend<T> fused_attend() {
  return [](const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, T*) { fused_attention<T>(tensors, options); };
}

}  // namespace attn
