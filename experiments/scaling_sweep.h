// `attn scaling-sweep`: why attention divides by sqrt(d_k).
//
// For independent standard normal entries a score q.k is a sum of d_k products of variance 1, so its deviation is sqrt(d_k). Per trial
// one query meets `seq` keys; the table gives the deviation of all scores, and the mean over trials of the largest softmax weight, of
// the scores themselves and of the scores divided by sqrt(d_k).
//
// Source: document 1's table; Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1 and footnote 4.
#pragma once

#include <string>
#include <vector>

#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"
#include "report/report.h"
#include "scaling/scores.h"
#include "sweep/row_hooks.h"

namespace attn {

struct ScalingOptions {
  std::vector<Index> d_k = {4, 16, 64, 256, 1024};
  Index trials = 2000;
  Index seq = 10;
  Seed seed;
  uint128 advance = 0;
};

// All rows draw from one stream, in the order given. With `margins`, the printed cells are computed in long double too.
Block scaling_block(const ScalingOptions& options, bool margins, Status& status, const RowHooks& hooks = {});

}  // namespace attn
