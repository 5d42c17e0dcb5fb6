#include "measure/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "machine/error.h"

namespace attn {
namespace {

// Twice the rank of every sample, so that the mean ranks of ties are whole numbers.
struct DoubledRanks {
  std::vector<int> all;  // in ascending order
  int sum_of_a = 0;
};

DoubledRanks doubled_ranks(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> ordered;  // value, whether of a
  for (const double sample : a) ordered.emplace_back(sample, true);
  for (const double sample : b) ordered.emplace_back(sample, false);
  std::sort(ordered.begin(), ordered.end());
  DoubledRanks ranks;
  for (std::size_t first = 0; first < ordered.size();) {
    std::size_t last = first;
    while (last < ordered.size() && ordered[last].first == ordered[first].first) ++last;
    const int doubled = static_cast<int>(first + 1 + last);
    for (; first < last; ++first) {
      ranks.all.push_back(doubled);
      if (ordered[first].second) ranks.sum_of_a += doubled;
    }
  }
  return ranks;
}

// Halves all ranks if none needs the doubling: the table of sums below is then half as long.
void halve_where_whole(DoubledRanks& ranks) {
  const bool whole = std::all_of(ranks.all.begin(), ranks.all.end(), [](int rank) { return rank % 2 == 0; });
  if (!whole) return;
  for (int& rank : ranks.all) rank /= 2;
  ranks.sum_of_a /= 2;
}

// ways[s]: how many subsets of `size` of the ranks have the sum s.
std::vector<double> count_subsets(const std::vector<int>& ranks, std::size_t size) {
  const std::size_t n = ranks.size();
  std::vector<std::size_t> below(n + 1);  // below[i]: sum of the i smallest ranks
  std::partial_sum(ranks.begin(), ranks.end(), below.begin() + 1);
  const std::size_t width = below[n] - below[n - size] + 1;  // no sum exceeds that of the largest ranks
  std::vector<double> ways((size + 1) * width);              // ways[c][s], over subsets of c of the ranks used so far
  ways[0] = 1;
  for (std::size_t used = 1; used <= n; ++used) {
    const auto rank = static_cast<std::size_t>(ranks[used - 1]);
    // Subsets so small that the ranks to come cannot fill them up are left out.
    const std::size_t fewest = size > n - used ? size - (n - used) : 1;
    for (std::size_t count = std::min(used, size); count >= std::max<std::size_t>(fewest, 1); --count) {
      double* to = &ways[count * width];
      const double* from = &ways[(count - 1) * width];
      const std::size_t largest = below[used] - below[used - count];
      for (std::size_t sum = rank + below[count - 1]; sum <= largest; ++sum) to[sum] += from[sum - rank];
    }
  }
  ways.erase(ways.begin(), ways.end() - static_cast<std::ptrdiff_t>(width));
  return ways;
}

// The share of all subsets of `size` ranks whose sum is at least as far from the mean as that of a.
double exact_p(const DoubledRanks& ranks, std::size_t size) {
  const std::vector<double> ways = count_subsets(ranks.all, size);
  const auto n = static_cast<int>(ranks.all.size());
  const int total = std::accumulate(ranks.all.begin(), ranks.all.end(), 0);
  const auto distance = [&](int sum) { return std::abs(n * sum - static_cast<int>(size) * total); };  // n times that from the mean
  double extreme = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    if (distance(static_cast<int>(sum)) >= distance(ranks.sum_of_a)) extreme += ways[sum];
  }
  return extreme / std::accumulate(ways.begin(), ways.end(), 0.0);
}

double normal_p(const DoubledRanks& doubled, double m, double n) {
  const double size = m + n;
  double squares = 0;  // of the ranks' distances from their mean; ties make it smaller
  for (const int rank : doubled.all) squares += (rank / 2.0 - (size + 1) / 2) * (rank / 2.0 - (size + 1) / 2);
  const double variance = m * n / (size * (size - 1)) * squares;
  const double distance = std::abs(doubled.sum_of_a / 2.0 - m * (size + 1) / 2) - 0.5;
  if (distance <= 0 || variance == 0) return 1;
  return std::erfc(distance / std::sqrt(2 * variance));
}

}  // namespace

double rank_sum_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) throw UsageError("rank test: samples: expected at least one on each side, found none");
  if (a.size() > b.size()) std::swap(a, b);  // two-sided, so either will do; the smaller makes the smaller table
  constexpr std::size_t exact_limit = 2500;  // 50 x 50: the table below has 0.4 million sums, and beyond it the normal is close
  DoubledRanks ranks = doubled_ranks(a, b);
  if (a.size() * b.size() > exact_limit) return normal_p(ranks, static_cast<double>(a.size()), static_cast<double>(b.size()));
  halve_where_whole(ranks);
  return exact_p(ranks, a.size());
}

}  // namespace attn
