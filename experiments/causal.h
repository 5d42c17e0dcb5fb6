// `attn causal`: what a causal mask does, in both documents.
#pragma once

#include <vector>

#include "numpy/seed_sequence.h"
#include "report/report.h"

namespace attn {

// Document 1: full and causal weights of its worked example (its figure), drawn with `seed`. Document 2: mask, masked scores and weights
// of its fixed scores; `seed` does not matter.
std::vector<Block> causal_blocks(int document, const Seed& seed);

}  // namespace attn
