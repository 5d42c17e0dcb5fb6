// Standard attention: the score matrix is written to memory, softmaxed there, and multiplied with the values.
//
//   S = softmax_scale Q K^T    P = softmax(modified S)    O = P V
//
// Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1, with the modifiers of problem.h. It moves about four times
// seq_q * seq_k elements per head through memory (S written, read for the softmax, P written, read for the product), which the fused
// algorithm saves; but every stage can be had.
#pragma once

#include "attention/problem.h"

namespace attn {

// What standard_attention can hand out besides o; a null pointer is not wanted. All contiguous: the stages of the scores
// (batch, heads, seq_q, seq_k) as problem.h names them, lse (batch, heads, seq_q).
//
// `scores` is no result but memory to work in, standard_scores_elements(shape), for a caller that keeps it from call to call: where it is
// null, and there are such, and the weights are not wanted, each call gets fresh memory from the system, whose pages have to be zeroed
// first.
template <class T>
struct StandardOutputs {
  T* raw = nullptr;
  T* capped = nullptr;
  T* masked = nullptr;
  T* weights = nullptr;
  T* lse = nullptr;
  T* scores = nullptr;
};

// Elements of one head's scores, seq_q * seq_k, where heads are large enough to be computed one after the other by all threads; 0 where
// they are small, and each thread has its own.
Index standard_scores_elements(const AttentionShape& shape);

// o = softmax(...) v for every head. T is float or double. Needs memory for seq_q * seq_k scores, of one head at a time where heads are
// large. Throws UsageError as shape_of and check_options do, MemoryError where memory does not suffice.
template <class T>
void standard_attention(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options = {},
                        const StandardOutputs<T>& outputs = {});

// One head's results.
template <class T>
struct HeadAttention {
  Matrix<T> output;   // (seq_q, head_dim_v)
  Matrix<T> weights;  // (seq_q, seq_k)
};

// One head: q (seq_q, head_dim), k (seq_k, head_dim), v (seq_k, head_dim_v). Throws as above.
template <class T>
HeadAttention<T> standard_attention(MatrixView<const T> q, MatrixView<const T> k, MatrixView<const T> v,
                                    const AttentionOptions<T>& options = {});

}  // namespace attn
