// The variance between runs, of each row of a table, where a row has only a few runs but the table has many rows.
//
// G. K. Smyth, Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments, Statistical
// Applications in Genetics and Molecular Biology 3 (2004): variances of rows are taken as drawn from a scaled inverse chi-square
// distribution, which the table itself tells; each row's own estimate is then moved towards it. If all rows are alike, the rows lend each
// other their degrees of freedom; if they are not, little is lent and the row stands on its own.
#pragma once

#include <span>
#include <vector>

namespace attn {

struct VarianceEstimate {
  double variance = 0;
  double degrees = 0;  // of freedom; infinity where known exactly
};

// The estimates moved towards their common distribution, in the same order. Entries of 0 degrees stay as they are. Fewer than
// `fewest_rows` of them say too little of their distribution: then all stay.
std::vector<VarianceEstimate> moderate_variances(std::span<const VarianceEstimate> rows, std::size_t fewest_rows = 10);

}  // namespace attn
