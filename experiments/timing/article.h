// The article's protocol: document 1's own measurement of how time and memory of the scores Q K^T grow with the number of tokens.
//
// The full (n, n) float64 product of an (n, d) matrix with its own transpose; the mean of three repetitions, each of which allocates a new
// result, computes it, and frees the one before, all inside the clock. That mean is the row's one sample.
#pragma once

#include <vector>

#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"
#include "report/report.h"
#include "sweep/row_hooks.h"

namespace attn {

struct ArticleOptions {
  std::vector<Index> n = {512, 1024, 2048, 4096};
  Index d = 64;
  Seed seed;
  uint128 advance = 0;
};

// Two blocks: timing (document 1's lines) and growth (by what factor memory and time grew per doubling of n, by the slope on log axes).
std::vector<Block> article_blocks(const ArticleOptions& options, Status& status, const RowHooks& hooks = {});

}  // namespace attn
