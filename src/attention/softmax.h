// Softmax of rows.
#pragma once

#include "matrix/matrix.h"

namespace attn {

// weights(i, j) = exp(scores(i, j) - max_j) / sum_j, row by row; scores and weights (rows, cols) may be the same memory. `lse`, where
// given, receives log sum_j exp(scores(i, j)) of every row.
//
// -inf gives exactly 0; a row of nothing but -inf, or without columns, is zeros with lse -inf; NaN or +inf makes its row NaN. Rows are
// shared out among the threads; each is read from memory once and written once.
void softmax_rows(MatrixView<const float> scores, MatrixView<float> weights, float* lse = nullptr);
void softmax_rows(MatrixView<const double> scores, MatrixView<double> weights, double* lse = nullptr);

// One row, in the caller's thread; returns its lse. `next`, where given, is a row of as many scores that is wanted next: it is fetched from
// memory meanwhile.
float softmax_row(const float* scores, float* weights, Index cols, const float* next = nullptr);
double softmax_row(const double* scores, double* weights, Index cols, const double* next = nullptr);

}  // namespace attn
