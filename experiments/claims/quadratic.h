// Claims `quadratic` and `heads`: how the cost of the scores Q K^T grows.
//
// quadratic: n x n scores of width d take 8 n^2 bytes and 2 n^2 d operations, so both should grow by 4 per doubling of n. Time is fitted as
// c n^e over n = 512..4096 (d = 64, float64), the factor per doubling is 2^e: by document 1's protocol, several times over, which pays for
// fresh memory in every repetition; and by the steady protocol, which does not. What the first touch of the result takes at the largest n
// is measured by itself, and given as a share of the article's time.
//
// heads: every head has scores of its own, so time and memory over 1, 2, 4, 8 heads should grow with exponent 1; of all scores (kept, as
// training keeps them) and of attention (which needs the scores of one head at a time). Layers run one after another and repeat that.
//
// Source: document 1's table of times and the words below it; document 2 on the context window.
#pragma once

#include <string>
#include <vector>

#include "claims/claim.h"
#include "claims/timed.h"

namespace attn {

struct QuadraticNumbers {
  double memory_factor = 0;        // of the scores, per doubling of n
  FittedExponent article, steady;  // of time in n
  double first_touch_share = 0;    // of the article's time at the largest n
};

Judged judge_quadratic(const QuadraticNumbers& numbers);

struct HeadsNumbers {
  FittedExponent scores_time, attention_time;      // in the number of heads
  double scores_memory = 0, attention_memory = 0;  // exponents
};

Judged judge_heads(const HeadsNumbers& numbers);

Claim quadratic_claim();
Claim heads_claim();

}  // namespace attn
