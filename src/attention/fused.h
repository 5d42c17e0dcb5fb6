// Fused attention: the scores are never stored.
#pragma once

#include "attention/problem.h"

namespace attn {

// o = softmax(...) v for every head, with every modifier of problem.h; T is float or double. `lse`, where given, receives the log-sum-exp
// of each row's masked scores, (batch, heads, seq_q) contiguous, -inf for a row without keys. Sizes are not limited and need not be
// multiples of anything.
//
// Works on threads() threads with the active target (machine/); the result is the same to the bit for any number of threads. Beside the
// tensors it needs memory proportional to seq_k * (head_dim + head_dim_v) of a few heads at a time, never to seq_q * seq_k.
//
// Without softcap and additive mask, scores beyond a number's range divided by log2(e) overflow: 2.3e38 for float32.
// Throws UsageError as shape_of and check_options do, MemoryError where memory does not suffice.
template <class T>
void fused_attention(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options = {}, T* lse = nullptr);

// Share of the multiply-add peak that fused attention can reach at most on AVX-512, T of 4 or 8 bytes: a vector of scores takes
// head_dim + head_dim_v multiply-adds and, on the same two units, the instructions of its softmax.
//
//   bound = (head_dim + head_dim_v) / (head_dim + head_dim_v + softmax_instructions)
//
// softmax_instructions counts a vector's maximum, subtraction, sum, and exp2_nonpositive: a remainder, a subtraction, 6 multiply-adds (11
// for float64) and a scaling.
template <class T>
double fused_peak_bound(Index head_dim, Index head_dim_v) {
  constexpr double exp_instructions = 2 + (sizeof(T) == 4 ? 6 : 11) + 1;
  const auto multiply_adds = static_cast<double>(head_dim + head_dim_v);
  return multiply_adds / (multiply_adds + 3 + exp_instructions);
}

}  // namespace attn
