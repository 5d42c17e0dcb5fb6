// The bootstrap interval of the ratio of two medians.
#pragma once

#include <cstdint>
#include <span>

namespace attn {

struct RatioInterval {
  double low = 1;
  double high = 1;
};

// The percentile interval at `confidence` of median(b) / median(a), from `draws` resamplings of both sides with replacement. Seeded: the
// same arguments give the same interval on every platform. Throws UsageError for an empty side.
RatioInterval bootstrap_median_ratio(std::span<const double> a, std::span<const double> b, double confidence, int draws,
                                     std::uint64_t seed);

}  // namespace attn
