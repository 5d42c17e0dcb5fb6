// Claim `sparse`: sparse patterns tame long sequences. The pattern is a window: each query sees the W keys before and the W after it.
//
// Cost: n (2 W + 1) pairs instead of n^2, so at fixed W time should grow with exponent 1 in n, where all pairs give 2. Fused attention,
// float32, d = 64.
//
// Price: of the weights p of full attention, the share that falls outside the window, mean over queries of 1 - sum_{j in window} p_ij, and
// the error of the output, |o_window - o_full| / |o_full| (Frobenius norms). On Gaussian q, k, v, where no key is nearer than another, the
// share outside is about 1 - (2 W + 1) / n; on the heads of a real model on a real sentence (data/sentence) it is what that model would
// lose. Which keys are in the window is read from the weights that windowed attention gives (0 outside).
//
// Source: document 2 on long contexts; Beltagy et al., "Longformer" (2020), for windows.
#pragma once

#include <vector>

#include "claims/attend.h"
#include "claims/claim.h"
#include "claims/timed.h"

namespace attn {

// What a window of `reach` keys on either side loses.
struct WindowLoss {
  bool sentence = false;  // the real sentence's heads; else Gaussian ones
  Index seq = 0;
  Index reach = 0;
  MeanEstimate outside;  // share of the weight, over heads
  MeanEstimate error;    // of the output, relative, over heads
};

struct SparseNumbers {
  FittedExponent window_time, full_time;  // in n
  std::vector<WindowLoss> losses;
};

std::vector<WindowLoss> measure_window_losses(const Attend<double>& attend, const Seed& seed, bool quick);

Judged judge_sparse(const SparseNumbers& numbers);

Claim sparse_claim();

}  // namespace attn
