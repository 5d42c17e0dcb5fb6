// Scores q.k of random queries and keys, and what the softmax makes of them.
#pragma once

#include <string>

#include "matrix/matrix.h"
#include "measure/statistics.h"
#include "numpy/generator.h"

namespace attn {

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

// The deviation of all scores with that error.
MeanEstimate deviation_of(const Matrix<double>& scores);

// Bytes that draw_scores holds at once: the queries, one piece of keys (at least one key), the scores, the latter twice with long double.
std::size_t score_bytes(Index d_k, Index trials, Index seq, bool precisely);

}  // namespace attn
