// `attn scaling-sweep`: why attention divides by sqrt(d_k).
//
// For independent standard normal entries a score q.k is a sum of d_k products of variance 1, so its deviation is sqrt(d_k). Per trial
// one query meets `seq` keys; the table gives the deviation of all scores, and the mean over trials of the largest softmax weight, of
// the scores themselves and of the scores divided by sqrt(d_k).
//
// Source: document 1's table; Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1 and footnote 4.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "numpy/generator.h"
#include "report/report.h"

namespace attn {

struct ScalingOptions {
  std::vector<Index> d_k = {4, 16, 64, 256, 1024};
  Index trials = 2000;
  Index seq = 10;
  Seed seed;
  uint128 advance = 0;
};

// One row's statistics, in the type that they were computed in.
template <class T>
struct ScalingRow {
  T std_of_scores = 0;
  T top_weight_unscaled = 0;
  T top_weight_scaled = 0;
};

// Scores of `trials` queries with `seq` keys each, row-major (trials, seq): q (trials, d_k) is drawn first, then k (trials, seq, d_k).
// In double, and in long double from the same numbers where `precise` is not null.
std::vector<double> draw_scores(Generator& generator, Index d_k, Index trials, Index seq, std::vector<long double>* precise);

// Population standard deviation of all scores; means over trials of the largest weight.
template <class T>
ScalingRow<T> scaling_row(const std::vector<T>& scores, Index d_k, Index seq);

// All rows draw from one stream, in the order given. With `margins`, the printed cells are computed in long double too.
// `finished` is called with the block after every row.
Block scaling_block(const ScalingOptions& options, bool margins, Status& status,
                    const std::function<void(const Block&)>& finished = nullptr);

}  // namespace attn
