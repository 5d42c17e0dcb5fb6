#include "attention/fused_plan.h"

#include <algorithm>

namespace attn {
namespace {

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

// Tasks that a wave should have at least, so that threads end together: with 2 to 16 threads the last task is a small part of each share.
constexpr Index wanted_tasks = 64;

// Tiles of keys below which a task is not worth splitting.
constexpr Index least_tiles = 2;

// Keys that any of the rows sees.
template <class T>
KeyRange range_of_rows(const AttentionShape& shape, const AttentionOptions<T>& options, Index b, Index first_row, Index rows) {
  KeyRange all{shape.seq_k, 0};
  for (Index r = first_row; r < first_row + rows; ++r) {
    const KeyRange range = visible_range(shape, options, b, r % shape.seq_q);
    if (range.empty()) continue;
    all.first = std::min(all.first, range.first);
    all.last = std::max(all.last, range.last);
  }
  return all.empty() ? KeyRange{} : all;
}

// Rows of the next block where `left` remain in the wave: whole blocks, then smaller ones, so that the last to end are short. A small block
// has to wait for a head's keys and values if the second-level cache cannot hold them all.
Index next_block(const FusedPlan& plan, Index left) {
  return std::clamp<Index>(left / (8 * group_rows), plan.least_groups, plan.block_rows / group_rows) * group_rows;
}

// Parts into which a block's keys are split so that all blocks together make wanted_tasks.
Index parts_of(Index blocks, Index tiles) {
  return std::clamp<Index>(ceil_div(wanted_tasks, blocks), 1, std::max<Index>(1, tiles / least_tiles));
}

}  // namespace

template <class T>
FusedPlan plan_fused(const AttentionShape& shape) {
  FusedPlan plan;
  plan.rows_per_head = shape.kv_heads > 0 ? shape.group() * shape.seq_q : 0;
  const Index row_bytes = (shape.head_dim + shape.head_dim_v) * static_cast<Index>(sizeof(T));
  const Index groups = std::clamp<Index>(block_bytes / (group_rows * std::max<Index>(1, row_bytes)), 1, block_groups);
  plan.block_rows = groups * group_rows;
  plan.least_groups = static_cast<double>(shape.seq_k) * static_cast<double>(row_bytes) > block_bytes ? std::min<Index>(2, groups) : 1;
  if (plan.rows_per_head <= direct_rows) {
    plan.access = KeyAccess::direct;
  } else if (plan.rows_per_head <= plan.block_rows) {
    plan.access = KeyAccess::packed_by_block;
  }
  // Enough heads for four times the wanted tasks: the end of a wave, where threads wait for one another, is then short beside it.
  const Index blocks = std::max<Index>(1, ceil_div(plan.rows_per_head, plan.block_rows));
  plan.heads_per_wave = std::max<Index>(1, 4 * wanted_tasks / blocks);
  return plan;
}

template <class T>
FusedWave plan_wave(const FusedPlan& plan, const AttentionShape& shape, const AttentionOptions<T>& options, Index first_head, Index count) {
  FusedWave wave;
  const Index blocks = count * std::max<Index>(1, ceil_div(plan.rows_per_head, plan.block_rows));
  for (Index number = 0; number < count; ++number) {
    const HeadRows head{(first_head + number) / shape.kv_heads, (first_head + number) % shape.kv_heads};
    wave.heads.push_back(head);
    for (Index row = 0; row < plan.rows_per_head;) {
      // Blocks do not straddle query heads unless those are small: their rows would see keys far apart.
      const bool stacked = shape.seq_q <= plan.block_rows;
      const Index left_in_head = stacked ? plan.rows_per_head - row : shape.seq_q - row % shape.seq_q;
      const Index left_in_wave = (count - number) * plan.rows_per_head - row;
      const Index most = plan.access == KeyAccess::packed_once ? next_block(plan, left_in_wave) : plan.block_rows;
      FusedTask task{head, number, row, std::min(left_in_head, most)};
      const KeyRange keys = range_of_rows(shape, options, head.b, row, task.rows);
      const Index first_tile = keys.first / tile_keys<T>;
      const Index tiles = ceil_div(keys.last, tile_keys<T>) - first_tile;
      const Index parts = parts_of(blocks, tiles);
      if (parts > 1) wave.merges.push_back({head, row, task.rows, wave.partials, parts});
      for (Index part = 0; part < parts; ++part) {
        task.first_key = std::max(keys.first, (first_tile + tiles * part / parts) * tile_keys<T>);
        task.last_key = std::min(keys.last, (first_tile + tiles * (part + 1) / parts) * tile_keys<T>);
        task.partial = parts > 1 ? wave.partials++ : -1;
        task.cost = static_cast<double>(task.rows) * static_cast<double>(task.last_key - task.first_key);
        wave.tasks.push_back(task);
      }
      row += task.rows;
    }
  }
  std::stable_sort(wave.tasks.begin(), wave.tasks.end(), [](const FusedTask& a, const FusedTask& b) { return a.cost > b.cost; });
  return wave;
}

template FusedPlan plan_fused<float>(const AttentionShape&);
template FusedPlan plan_fused<double>(const AttentionShape&);
template FusedWave plan_wave(const FusedPlan&, const AttentionShape&, const AttentionOptions<float>&, Index, Index);
template FusedWave plan_wave(const FusedPlan&, const AttentionShape&, const AttentionOptions<double>&, Index, Index);

}  // namespace attn
