// What a row of scaling-sweep takes: counts that hold for any machine, and the least time on this one.
#pragma once

#include "report/report.h"
#include "scaling_sweep.h"

namespace attn {

// Scores of a row: trials * seq.
double row_scores(const ScalingOptions& options);

// How many normals a row draws: its queries, then its keys.
double row_numbers(Index d_k, const ScalingOptions& options);

// Floating-point operations of a row's scores, 2 d_k each.
double row_flops(Index d_k, const ScalingOptions& options);

// Those of a row of --gradients: q.k_j, g.v_j and the sum of delta_j k_j for every key.
double gradient_flops(Index d_k, const ScalingOptions& options);

// Bytes of a row's numbers and scores.
double row_bytes(Index d_k, const ScalingOptions& options);

// For --dry-run: the rows with these counts, and how long each takes at the least. Drawing takes most of it: its rate is measured on a
// million normals of the same stream, the multiply-adds' is the machine's ceiling. With `gradients` one row more for the two
// of each width, unscaled and scaled, which share what they draw: queries, keys, values and upstream gradients.
Block planned_scaling_block(const ScalingOptions& options, bool gradients);

}  // namespace attn
