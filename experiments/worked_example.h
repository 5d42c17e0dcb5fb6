// The documents' worked example: tokens x are projected to queries, keys and values, and attend to one another.
//
//   Q = x W_q, K = x W_k, V = x W_v;  weights = softmax(Q K^T / sqrt(d_k));  output = weights V
//
// Both documents draw x, W_q, W_k, W_v in this order from one stream of normals; document 1 divides the W by sqrt(d_model).
#pragma once

#include "matrix/matrix.h"
#include "numpy/generator.h"
#include "numpy/seed_sequence.h"

namespace attn {

struct ExampleSizes {
  Index seq = 0;
  Index d_model = 0;
  Index d_k = 0;
  Index d_v = 0;

  friend bool operator==(const ExampleSizes&, const ExampleSizes&) = default;
};

// The sizes in the documents: 6 tokens of 16, or 4 tokens of 6; d_k = d_v = 8.
ExampleSizes document_sizes(int document);

// The stream's next normals, each divided by `divisor`.
Matrix<double> draw_normals(Generator& generator, Index rows, Index cols, double divisor);

struct ExampleInputs {
  Matrix<double> x;    // (seq, d_model)
  Matrix<double> w_q;  // (d_model, d_k)
  Matrix<double> w_k;  // (d_model, d_k)
  Matrix<double> w_v;  // (d_model, d_v)
};

// Throws MemoryError where the example would not fit into memory.
ExampleInputs draw_example(int document, const ExampleSizes& sizes, const Seed& seed);

template <class T>
struct ExampleResult {
  Matrix<T> q, k;     // (seq, d_k)
  Matrix<T> v;        // (seq, d_v)
  Matrix<T> weights;  // (seq, seq)
  Matrix<T> output;   // (seq, d_v)
};

// By the library's kernels.
ExampleResult<double> run_example(const ExampleInputs& inputs, bool causal);

// The same from the same float64 inputs in long double, by the plain reference: what the rounding of the former is measured against.
ExampleResult<long double> run_example_precisely(const ExampleInputs& inputs, bool causal);

}  // namespace attn
