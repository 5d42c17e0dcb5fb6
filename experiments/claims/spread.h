// Claim `spread`: the scores' standard deviation is sqrt(d_k).
//
// For independent entries of mean 0 and variance 1, whatever their distribution, the d_k products q_e k_e of a score have mean 0 and
// variance 1 each and are uncorrelated: Var(q.k) = d_k. Here entries are standard normal (document 1's own numbers) or uniform in
// [-sqrt(3), sqrt(3)]. Scores of one query are dependent (they share q), so the standard error is taken over trials, not scores:
//
//   m_t = mean_j (s_tj - mean)^2,   std = sqrt(mean_t m_t),   error(std) = stddev_t(m_t) / sqrt(trials) / (2 std)
//
// the last by the delta method, d sqrt(x) = dx / (2 sqrt(x)).
//
// Source: document 1's table; Vaswani et al. (2017), footnote 4.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "claims/claim.h"
#include "scaling_sweep.h"

namespace attn {

struct SpreadPoint {
  Entries entries = Entries::normal;
  Index d_k = 0;
  MeanEstimate std;  // of the scores, and its standard error

  double distance() const;  // from sqrt(d_k), in standard errors
};

// Scores (trials, seq) of one d_k; default: scaling_sweep's draw_scores.
using ScoreSource = std::function<Matrix<double>(Generator& generator, Index d_k, Index trials, Index seq, Entries entries)>;

std::vector<SpreadPoint> measure_spread(const ScalingOptions& options, const ScoreSource& scores = {});

Judged judge_spread(const std::vector<SpreadPoint>& points);

Claim spread_claim();

// The article's own widths, trials and keys.
ScalingOptions scaling_options(const ClaimSettings& settings);

}  // namespace attn
