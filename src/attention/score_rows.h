// One row of scores through the stages of problem.h, in place.
#pragma once

#include "attention/problem.h"

namespace attn {

// row[j] = softcap * tanh(row[j] / softcap) for 0 <= j < cols.
void cap_scores(float* row, Index cols, float softcap);
void cap_scores(double* row, Index cols, double softcap);

// Adds the mask's entries of row (b, h, i) to row[0, seq_k), or puts -inf where the key takes no part.
void mask_scores(float* row, const AttentionShape& shape, const AttentionOptions<float>& options, Index b, Index h, Index i);
void mask_scores(double* row, const AttentionShape& shape, const AttentionOptions<double>& options, Index b, Index h, Index i);

}  // namespace attn
