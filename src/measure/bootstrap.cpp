#include "measure/bootstrap.h"

#include <algorithm>
#include <random>
#include <vector>

#include "measure/statistics.h"

namespace attn {
namespace {

// Medians of resamplings. The samples are kept in order, so that a resampling is only a count of how often each was drawn.
class MedianResampler {
 public:
  explicit MedianResampler(std::span<const double> samples) : ordered_(samples.begin(), samples.end()), drawn_(samples.size()) {
    std::sort(ordered_.begin(), ordered_.end());
  }

  double draw(std::mt19937_64& random) {
    const std::size_t n = ordered_.size();
    std::fill(drawn_.begin(), drawn_.end(), 0u);
    // The high half of a word times n, halved again: uniform below n to 1 in 2^32, and alike in every standard library.
    for (std::size_t i = 0; i < n; ++i) ++drawn_[((random() >> 32) * n) >> 32];
    return (nth_drawn((n - 1) / 2) + nth_drawn(n / 2)) / 2;
  }

 private:
  double nth_drawn(std::size_t n) const {
    std::size_t at = 0;
    for (std::size_t passed = drawn_[0]; passed <= n; passed += drawn_[at]) ++at;
    return ordered_[at];
  }

  std::vector<double> ordered_;
  std::vector<unsigned> drawn_;
};

}  // namespace

RatioInterval bootstrap_median_ratio(std::span<const double> a, std::span<const double> b, double confidence, int draws,
                                     std::uint64_t seed) {
  const double tail = (1 - confidence) / 2;
  std::mt19937_64 random(seed);
  MedianResampler of_a(a);
  MedianResampler of_b(b);
  std::vector<double> ratios;
  for (int draw = 0; draw < draws && !a.empty() && !b.empty(); ++draw) ratios.push_back(of_b.draw(random) / of_a.draw(random));
  return {quantile(ratios, tail), quantile(ratios, 1 - tail)};
}

}  // namespace attn
