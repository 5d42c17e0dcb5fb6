// Claim `bottleneck`: attention's arithmetic is what takes the time.
//
// One transformer layer's operations and time are split into projections, attention and feed-forward (layer_sweep.h). By operations
// attention is more than half from n = 6 d + 1 on, which is exact; by time it depends on how fast each part runs, and is measured with the
// standard algorithm and with the fused one.
//
// Source: document 2 on long contexts; transformer/layer.h.
#pragma once

#include "claims/claim.h"
#include "claims/timed.h"
#include "layer_sweep.h"

namespace attn {

struct BottleneckNumbers {
  Index smallest_n = 0, largest_n = 0;  // that were measured
  Majority standard, fused;             // of the time
};

Judged judge_bottleneck(const BottleneckNumbers& numbers);

Claim bottleneck_claim();

}  // namespace attn
