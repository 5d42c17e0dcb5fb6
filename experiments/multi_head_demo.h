// `attn demo --heads H --batch B`: the worked examples with several heads.
#pragma once

#include <vector>

#include "multi_head_example.h"
#include "report/report.h"

namespace attn {

// Two blocks: multi-head, whose text shows the first sequence, and pytorch, which has numbers where PyTorch's output is kept.
std::vector<Block> multi_head_blocks(int document, const MultiHeadSizes& sizes, const Seed& seed);

}  // namespace attn
