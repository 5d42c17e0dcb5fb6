// Doubles in [0, 1), many at a time: the upper 53 bits of each word, times 2^-53.
#pragma once

#include <span>

#include "numpy/pcg64.h"

namespace attn {

// What Generator(bits).random() gives, out.size() times; one word each.
void fill_unit_doubles(const Pcg64& bits, std::span<double> out);

}  // namespace attn
