// Claim `fused`: fused attention is 2 to 4 times as fast as the plain one and needs less memory.
//
// Plain attention writes n x n scores per head, softmaxes them there and reads them again: 4 n^2 numbers of traffic. Fused attention keeps
// a tile of scores in the caches (Dao et al., "FlashAttention", 2022). `standard` against `fused` of this program, interleaved, n =
// 512..8192, d = 64, one head, both types, with and without a causal mask: the ratio of the median times, with a bootstrap interval from
// the samples, and the most memory that each took (inputs, output, workspace).
//
// With scripts/peers' rows also PyTorch's plain backend against its fused one.
//
// Source: document 2 on what to use in real code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "claims/claim.h"

namespace attn {

// A plain and a fused computation of the same problem.
struct SpeedPoint {
  std::string whose;  // "attn", "pytorch"
  std::string dtype;
  bool causal = false;
  Index n = 0;
  double ratio = 0;                                // plain time over fused time
  double low = 0, high = 0;                        // 95 %
  std::optional<double> plain_bytes, fused_bytes;  // empty where not known
};

// The point of each series (whose, dtype, causal) with the largest n.
std::vector<SpeedPoint> largest_points(const std::vector<SpeedPoint>& points);

// The smallest n of a series from which on the ratio is at least 2; empty where its largest n falls short.
std::optional<Index> crossing(const std::vector<SpeedPoint>& points, const SpeedPoint& series);

Judged judge_fused(const std::vector<SpeedPoint>& points);

Claim fused_claim();

}  // namespace attn
