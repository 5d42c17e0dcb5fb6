// Claims `gradients` and `training`: saturated, the softmax passes no gradient on, and so without scaling large models do not train.
//
// Of document 1's own queries and keys: the softmax's Jacobian diag(p) - p p^T (mean norm, mean largest entry, share of rows whose largest
// entry is below 0.001) and the gradient of the query for a random upstream gradient. scaling/gradients.h derives them,
// `attn scaling-sweep --gradients` prints them.
//
// Source: document 1 and document 2 on dividing by sqrt(d_k).
#pragma once

#include <vector>

#include "claims/claim.h"
#include "scaling/gradient_table.h"

namespace attn {

// `pairs` by growing d_k (gradient_pairs).
Judged judge_gradients(const std::vector<GradientPair>& pairs);

Claim gradients_claim();
Claim training_claim();

}  // namespace attn
