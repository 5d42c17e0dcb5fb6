// One standard normal from a stream of 64-bit words, as NumPy draws it: the ziggurat, its wedges and its tail.
//
// A word is (lowest bit first) 8 bits of layer, 1 of sign, 52 of magnitude; 3 bits are not used.
// Source: random_standard_normal in numpy/random/src/distributions/distributions.c.
#pragma once

#include <cmath>
#include <cstdint>

#include "numpy/ziggurat_tables.h"

namespace attn {

inline constexpr std::uint64_t ziggurat_magnitude_mask = (std::uint64_t{1} << 52) - 1;

constexpr std::size_t ziggurat_layer(std::uint64_t word) { return word & 255; }
constexpr std::uint64_t ziggurat_magnitude(std::uint64_t word) { return word >> 9 & ziggurat_magnitude_mask; }

// A double in [0, 1) from a word: its upper 53 bits.
constexpr double unit_double(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Draws beyond ziggurat_r (Marsaglia's method). log1p is the C library's, as in NumPy.
template <class NextWord>
double ziggurat_tail(std::uint64_t magnitude, NextWord& next) {
  for (;;) {
    const double x = -ziggurat_inv_r * std::log1p(-unit_double(next()));
    const double y = -std::log1p(-unit_double(next()));
    if (y + y > x * x) return (magnitude >> 8 & 1) != 0 ? -(ziggurat_r + x) : ziggurat_r + x;
  }
}

// Whether x, beyond the layer's rectangle, lies under the curve at a height taken from the next word.
inline bool ziggurat_wedge_accepts(std::size_t layer, double x, std::uint64_t word) {
  return (ziggurat_fi[layer - 1] - ziggurat_fi[layer]) * unit_double(word) + ziggurat_fi[layer] < std::exp(-0.5 * x * x);
}

// `next()` gives the stream's next word; 1.022 are used on average.
template <class NextWord>
double ziggurat_normal(NextWord&& next) {
  for (;;) {
    const std::uint64_t word = next();
    const std::size_t layer = ziggurat_layer(word);
    const std::uint64_t magnitude = ziggurat_magnitude(word);
    const double distance = static_cast<double>(magnitude) * ziggurat_wi[layer];
    const double x = (word >> 8 & 1) != 0 ? -distance : distance;
    if (magnitude < ziggurat_ki[layer]) return x;
    if (layer == 0) return ziggurat_tail(magnitude, next);
    if (ziggurat_wedge_accepts(layer, x, next())) return x;
  }
}

}  // namespace attn
