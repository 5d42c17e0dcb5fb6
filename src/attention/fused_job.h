// What the fused kernels of every target are given.
#pragma once

#include "attention/fused_plan.h"
#include "attention/problem.h"

namespace attn {

inline constexpr Index round_up(Index a, Index unit) { return (a + unit - 1) / unit * unit; }

// Columns of the output with padding to whole vectors of every target.
template <class T>
Index padded_dim_v(const AttentionShape& shape) {
  return round_up(shape.head_dim_v, static_cast<Index>(cache_line_bytes / sizeof(T)));
}

// Tiles of keys of one head, packed:
//
//   keys[(tile * tile_keys + panel * NR) * head_dim + x * NR + j]    key j of the panel, coordinate x; zeros for missing keys
//   values[tile * tile_keys * padded_dim_v + tile_keys * c + j * W + y]   key j of the tile, column c + y of the panel of W columns from c
//
// NR and the panels' widths W are the target's. finite[tile] tells whether all its values are.
template <class T>
struct PackedHead {
  T* keys = nullptr;
  T* values = nullptr;
  std::uint8_t* finite = nullptr;
};

// A fused attention problem, fixed for all tasks.
template <class T>
struct FusedJob {
  const AttentionTensors<T>& tensors;
  const AttentionOptions<T>& options;
  AttentionShape shape;
  FusedPlan plan;
  T query_scale;  // the queries are multiplied by it beforehand: the scale, and log2(e) unless `natural`
  bool natural;   // scores are natural logarithms because something is added to them or they are capped; else base 2
  T* lse;         // (batch, heads, seq_q), or null
  T* partials;    // of the wave: [partial][row of the block](output padded_dim_v, maximum, sum)

  Index partial_row_elements() const { return padded_dim_v<T>(shape) + static_cast<Index>(cache_line_bytes / sizeof(T)); }
  T* partial_row(Index partial, Index row) const { return partials + (partial * plan.block_rows + row) * partial_row_elements(); }
  Index head_of(const HeadRows& rows, Index row) const { return rows.kv_head * shape.group() + row / shape.seq_q; }
  Index query_of(Index row) const { return row % shape.seq_q; }
};

}  // namespace attn
