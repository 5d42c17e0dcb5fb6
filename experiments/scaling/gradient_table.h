// `attn scaling-sweep --gradients`: by d_k and scale, how large the softmax's Jacobian and the gradient of Q are (scaling/gradients.h).
//
// Queries and keys are the very ones of document 1's table, drawn from the same places of the stream. Values (standard normal, as wide as
// keys) and upstream gradients (normal, of length about 1, so that dL/dp has deviation 1 whatever the width) come from a stream of their
// own, seeded [seed, 1] and advanced to the same place. Standard errors are over the trials.
#pragma once

#include <string>
#include <vector>

#include "measure/statistics.h"
#include "numpy/generator.h"
#include "report/report.h"
#include "scaling/gradients.h"
#include "scaling_sweep.h"
#include "sweep/row_hooks.h"

namespace attn {

// A row of the Jacobian table counts as flat where its largest entry is below this.
inline constexpr double flat_entry = 1e-3;

// Means over trials at one d_k and scale.
struct GradientRow {
  Index d_k = 0;
  double scale = 1;
  MeanEstimate jacobian_norm;
  MeanEstimate largest_entry;
  MeanEstimate flat_rows;       // share of trials
  MeanEstimate query_gradient;  // length of dL/dq
  double query_gradient_median = 0;
};

struct GradientPair {
  GradientRow unscaled, scaled;
  std::string input_hash;      // of queries, upstream gradients, and each piece's keys and values
  std::size_t peak_bytes = 0;  // of our own allocations
};

// Throws MemoryError where the queries do not fit.
GradientPair gradient_rows(Generator& queries_and_keys, Generator& values_and_upstream, Index d_k, Index trials, Index seq,
                           const GradientKernels& kernels = {});

// The same by options, for every d_k; what the table shows and the claim judges.
std::vector<GradientPair> gradient_pairs(const ScalingOptions& options, const GradientKernels& kernels = {});

// The table.
Block gradient_block(const ScalingOptions& options, Status& status, const RowHooks& hooks = {});

}  // namespace attn
