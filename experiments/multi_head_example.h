// The documents' worked example with several heads and a batch of sequences.
//
//   Q = x W_q, K = x W_k, V = x W_v;  head_h = softmax(Q_h K_h^T / sqrt(d_k)) V_h;  output = concat(head_1, ..., head_H) W_o
//
// Vaswani et al., "Attention Is All You Need", 2017, section 3.2.2. Head h's columns of Q, K and V stand side by side, from h d_k (h d_v)
// on. Drawn from one stream of normals, in this order: x, W_q, W_k, W_v, W_o. With one head and one sequence all but W_o is the documents'
// own. As document 1 has it, each W is divided by the square root of its number of rows; in document 2 none is.
#pragma once

#include <optional>

#include "attention/problem.h"
#include "matrix/matrix.h"
#include "numpy/seed_sequence.h"
#include "worked_example.h"

namespace attn {

struct MultiHeadSizes {
  ExampleSizes head;  // of one head
  Index heads = 1, batch = 1;
};

struct MultiHeadInputs {
  MultiHeadSizes sizes;
  Matrix<double> x;         // (batch * seq, d_model)
  Matrix<double> w_q, w_k;  // (d_model, heads * d_k)
  Matrix<double> w_v;       // (d_model, heads * d_v)
  Matrix<double> w_o;       // (heads * d_v, d_model)
};

// Throws MemoryError where the example would not fit into memory.
MultiHeadInputs draw_multi_head(int document, const MultiHeadSizes& sizes, const Seed& seed);

struct MultiHeadResult {
  Matrix<double> weights;  // (batch * heads * seq, seq), batch varying slowest
  Matrix<double> output;   // (batch * seq, d_model)
};

MultiHeadResult run_multi_head(const MultiHeadInputs& inputs, bool causal);

// PyTorch's output for the same inputs, (batch * seq, d_model): kept for the documents' own sizes and seed 0, 1, 2, 4 or 8 heads and
// batches of 1, 2 or 4; else nothing.
std::optional<Matrix<double>> pytorch_multi_head(int document, const MultiHeadSizes& sizes, const Seed& seed, bool causal);

}  // namespace attn
