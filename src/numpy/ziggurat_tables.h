// The tables behind numpy.random.Generator.standard_normal (float64): 256 layers of equal area under exp(-x^2 / 2).
//
// They are NumPy's own numbers, to the bit: tables computed anew differ in many last digits, and a stream with them.
// Source: numpy/random/src/distributions/ziggurat_constants.h, after J. A. Doornik, "An Improved Ziggurat Method to Generate Normal
// Random Samples" (2005); taken from data/numpy/ziggurat_normal_f64.json.
#pragma once

#include <array>
#include <cstdint>

namespace attn {

// A 52-bit magnitude below this lies in the layer's rectangle for sure.
extern const std::array<std::uint64_t, 256> ziggurat_ki;
// Turns the 52-bit magnitude into x.
extern const std::array<double, 256> ziggurat_wi;
// exp(-x^2 / 2) at the layer's edge.
extern const std::array<double, 256> ziggurat_fi;
// Where the tail begins, and its reciprocal.
extern const double ziggurat_r;
extern const double ziggurat_inv_r;

}  // namespace attn
