// Claims `saturation` and `scaled-constant`: what the division by sqrt(d_k) does to the largest softmax weight.
//
// Over trials of one query and `seq` keys, of the scores themselves (unscaled) and divided by sqrt(d_k) (scaled): the mean of the top
// weight max_j p_j, of the entropy -sum_j p_j ln p_j (ln seq where all weights are equal, 0 where one has it all), and the share of trials
// whose top weight exceeds 0.99. On document 1's own numbers.
//
// Scaled, a score given q is normal with deviation |q| / sqrt(d_k), which tends to 1: so the top weight tends to that of `seq` independent
// standard normal scores, which is estimated from many draws of those. Below the limit d_k is small enough for |q| to vary.
//
// Source: document 1's table and the words around it.
#pragma once

#include <functional>
#include <vector>

#include "claims/claim.h"
#include "scaling_sweep.h"

namespace attn {

struct SaturationPoint {
  Index d_k = 0;
  MeanEstimate top_weight, entropy, above_99;
};

struct SaturationSweep {
  std::vector<SaturationPoint> unscaled, scaled;  // by d_k
  MeanEstimate limit;                             // scaled top weight for d_k without bound
};

// weights (seq) = softmax of scores * scale; default: the library's softmax.
using ScaledSoftmax = std::function<void(const double* scores, double scale, double* weights, Index seq)>;

SaturationSweep measure_saturation(const ScalingOptions& options, Index limit_trials, const ScaledSoftmax& softmax = {});

Judged judge_saturation(const SaturationSweep& sweep);
Judged judge_scaled_constant(const SaturationSweep& sweep);

Claim saturation_claim();
Claim scaled_constant_claim();

}  // namespace attn
