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

#include "numpy/generator.h"
#include "report/report.h"
#include "sweep/row_hooks.h"

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

// How the entries of queries and keys are distributed, with mean 0 and variance 1 either way.
enum class Entries { normal, uniform };

struct DrawnScores {
  Matrix<double> scores;        // (trials, seq)
  Matrix<long double> precise;  // the same from the same numbers in long double; empty unless asked for
  std::string input_hash;       // of all numbers drawn, in their order
};

// Scores of `trials` queries with `seq` keys each: q (trials, d_k) is drawn first, then k (trials, seq, d_k).
DrawnScores draw_scores(Generator& generator, Index d_k, Index trials, Index seq, bool precisely, Entries entries = Entries::normal);

// Population standard deviation of all scores (trials, seq); means over trials of the largest weight.
template <class T>
ScalingRow<T> scaling_row(const Matrix<T>& scores, Index d_k);

// Their standard errors, from the differences between trials: error(sqrt(m)) = error(m) / (2 sqrt(m)) for the deviation, m being the mean
// square of the scores' distances from their mean.
ScalingRow<double> scaling_errors(const Matrix<double>& scores, Index d_k);

// All rows draw from one stream, in the order given. With `margins`, the printed cells are computed in long double too.
Block scaling_block(const ScalingOptions& options, bool margins, Status& status, const RowHooks& hooks = {});

}  // namespace attn
