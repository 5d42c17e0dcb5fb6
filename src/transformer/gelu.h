// The activation between the two products of a feed-forward part.
//
//   gelu(x) = x (1 + tanh u) / 2 = x / (1 + e^(-2u)),  u = sqrt(2 / pi) (x + 0.044715 x^3)
//
// Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", 2016, section 2: their approximation of x Phi(x), which GPT-2 uses and which
// lies within 0.0005 of it. The second form takes one exponential and no difference of nearly equal numbers.
#pragma once

#include "matrix/matrix.h"

namespace attn {

// x := gelu(x), element by element, rows shared out among the threads. To about 3 + 3 |u| units in the last place: u is rounded before
// it goes into an exponent. NaN stays NaN.
void gelu(MatrixView<float> x);
void gelu(MatrixView<double> x);

}  // namespace attn
