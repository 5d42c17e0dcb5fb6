// The rank-sum test: are two sets of samples drawn from the same distribution, whatever that distribution is?
//
// F. Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1 (1945); H. B. Mann and D. R. Whitney, On a Test of Whether
// one of Two Random Variables is Stochastically Larger than the Other, Ann. Math. Stat. 18 (1947).
#pragma once

#include <span>

namespace attn {

// The two-sided p-value: the chance, if all samples come from one distribution, that the rank sum of `a` lies as far from its mean as it
// does, or farther. Ties get their mean rank. Exact, by counting the subsets of the ranks found, while a.size() * b.size() <= 2500; the
// normal distribution with corrections for ties and continuity above. Throws UsageError for an empty set.
double rank_sum_p(std::span<const double> a, std::span<const double> b);

}  // namespace attn
