#include "attention/fused_plan.h"

#include <algorithm>

namespace attn {
namespace {

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

// Tasks that a wave should have at least, so that up to 16 threads end together. Where it has fewer, keys are split, which costs a merge of
// results for each row: little where a task has few rows, but 5 % of the time where it has a whole block's (4096 queries and keys, d = 64,
// on AMD Zen 4, 30 November 2026).
constexpr Index wanted_tasks(KeyAccess access) { return access == KeyAccess::packed_once ? 16 : 64; }

// A block takes at most this part of the rows that a wave has left: the last to end are short.
constexpr Index part_of_rest = 16;

// Blocks for which a wave takes heads enough: its end, where threads wait for one another, is then short beside it.
constexpr Index blocks_of_wave = 256;

// Bytes that the packed keys and values of a wave's heads may take, where that leaves it the wanted tasks.
constexpr double packed_bytes_of_wave = 64 << 20;

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

// Rows of the next block where `left` remain in the wave: whole blocks, then smaller ones. A small block has to wait for a head's keys and
// values if the second-level cache cannot hold them all.
Index next_block(const FusedPlan& plan, Index left) {
  return std::clamp<Index>(left / (part_of_rest * group_rows), plan.least_groups, plan.block_rows / group_rows) * group_rows;
}

// Parts into which a block's keys are split so that all blocks together make `wanted` tasks.
Index parts_of(Index wanted, Index blocks, Index tiles) {
  return std::clamp<Index>(ceil_div(wanted, blocks), 1, std::max<Index>(1, tiles / least_tiles));
}

// Tasks of a wave before keys are split.
FusedWave blocks_of_rows(const FusedPlan& plan, const AttentionShape& shape, Index first_head, Index count) {
  FusedWave wave;
  for (Index number = 0; number < count; ++number) {
    const HeadRows head{(first_head + number) / shape.kv_heads, (first_head + number) % shape.kv_heads};
    wave.heads.push_back(head);
    for (Index row = 0; row < plan.rows_per_head;) {
      // Blocks do not straddle query heads unless those are small: their rows would see keys far apart.
      const bool stacked = shape.seq_q <= plan.block_rows;
      const Index left_in_head = stacked ? plan.rows_per_head - row : shape.seq_q - row % shape.seq_q;
      const Index left_in_wave = (count - number) * plan.rows_per_head - row;
      const Index most = plan.access == KeyAccess::packed_once ? next_block(plan, left_in_wave) : plan.block_rows;
      wave.tasks.push_back({head, number, row, std::min(left_in_head, most)});
      row += wave.tasks.back().rows;
    }
  }
  return wave;
}

}  // namespace

template <class T>
FusedPlan plan_fused(const AttentionShape& shape) {
  FusedPlan plan;
  plan.rows_per_head = shape.kv_heads > 0 ? shape.group() * shape.seq_q : 0;
  const Index row_bytes = (shape.head_dim + shape.head_dim_v) * static_cast<Index>(sizeof(T));
  const Index fitting_groups = std::clamp<Index>(block_bytes / (group_rows * std::max<Index>(1, row_bytes)), 1, block_groups);
  const bool shared = plan.rows_per_head > fitting_groups * group_rows;
  const Index groups = shared ? std::min(fitting_groups, shared_block_groups) : fitting_groups;
  plan.block_rows = groups * group_rows;
  plan.least_groups = static_cast<double>(shape.seq_k) * static_cast<double>(row_bytes) > block_bytes ? std::min<Index>(2, groups) : 1;
  if (plan.rows_per_head <= direct_rows) {
    plan.access = KeyAccess::direct;
  } else if (!shared) {
    plan.access = KeyAccess::packed_by_block;
  }
  const Index blocks = std::max<Index>(1, ceil_div(plan.rows_per_head, plan.block_rows));
  plan.heads_per_wave = std::max<Index>(1, blocks_of_wave / blocks);
  if (shared) {
    const double head_bytes = static_cast<double>(shape.seq_k) * static_cast<double>(row_bytes);
    const Index fitting = static_cast<Index>(packed_bytes_of_wave / std::max(1.0, head_bytes));
    plan.heads_per_wave = std::min(plan.heads_per_wave, std::max(fitting, ceil_div(wanted_tasks(plan.access), blocks)));
  }
  // No more than there are: partial results have that many rows each.
  plan.block_rows = std::max<Index>(1, std::min(plan.block_rows, plan.rows_per_head));
  return plan;
}

template <class T>
FusedWave plan_wave(const FusedPlan& plan, const AttentionShape& shape, const AttentionOptions<T>& options, Index first_head, Index count) {
  FusedWave wave = blocks_of_rows(plan, shape, first_head, count);
  std::vector<FusedTask> blocks;
  std::swap(blocks, wave.tasks);
  for (FusedTask task : blocks) {
    const KeyRange keys = range_of_rows(shape, options, task.head.b, task.first_row, task.rows);
    const Index first_tile = keys.first / tile_keys<T>;
    const Index tiles = ceil_div(keys.last, tile_keys<T>) - first_tile;
    const Index parts = parts_of(wanted_tasks(plan.access), static_cast<Index>(blocks.size()), tiles);
    if (parts > 1) wave.merges.push_back({task.head, task.first_row, task.rows, wave.partials, parts});
    for (Index part = 0; part < parts; ++part) {
      task.first_key = std::max(keys.first, (first_tile + tiles * part / parts) * tile_keys<T>);
      task.last_key = std::min(keys.last, (first_tile + tiles * (part + 1) / parts) * tile_keys<T>);
      task.partial = parts > 1 ? wave.partials++ : -1;
      task.cost = static_cast<double>(task.rows) * static_cast<double>(task.last_key - task.first_key);
      wave.tasks.push_back(task);
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
