// How a fused attention problem is cut into tasks: by its size alone, never by the number of threads, so that results do not depend on it.
#pragma once

#include <vector>

#include "attention/problem.h"
#include "attention/visibility.h"

namespace attn {

// Query rows that go through a tile of keys together: a multiple of the register tiles' rows on every target (8, 6 and 4 for the scores;
// 12, 8, 6 and 4 for the output). Their scores, 24 x 960 bytes = 23 KiB, stay in the first-level cache from the first product to the last.
inline constexpr Index group_rows = 24;

// Keys of a tile: 960 bytes a row of scores. A multiple of the register tiles' columns on every target (3 vectors of 64 bytes, 2 of 32 or
// 16) and 15 cache lines, so that neighbouring rows do not fall into the same sets. At d = 64 the tile's keys and values are 60 KiB each:
// they come from the second-level cache, once a group.
template <class T>
inline constexpr Index tile_keys = 960 / static_cast<Index>(sizeof(T));

// Groups of a block, which shares each tile while it is in the second-level cache, and the bytes that a block's queries and outputs and a
// tile's keys and values may take there, together with them. A head that makes a single block of up to block_groups packs its keys as it
// goes along and needs no memory for them; larger heads are cut into blocks of shared_block_groups, so that there are more of them.
inline constexpr Index block_groups = 8;
inline constexpr Index shared_block_groups = 4;
inline constexpr Index block_bytes = 1024 << 10;

// Rows of queries up to which keys and values are read where they lie, by dot products: packing would cost more than it saves.
inline constexpr Index direct_rows = 8;

// How a task reads keys and values.
enum class KeyAccess {
  direct,           // where they lie: few queries
  packed_by_block,  // packed tile by tile by the one block that needs them
  packed_once,      // packed for all blocks of the head beforehand
};

// Query rows of one key/value head of one batch, those of its group of query heads one after the other: row r is query r % seq_q of the
// group's head r / seq_q.
struct HeadRows {
  Index b = 0;
  Index kv_head = 0;
};

struct FusedTask {
  HeadRows head;
  Index head_number = 0;  // of the wave: which packed head
  Index first_row = 0, rows = 0;
  Index first_key = 0, last_key = 0;  // tiles start at multiples of tile_keys
  Index partial = -1;                 // where results of a part of the keys go, or -1: all keys, results go to the tensors
  double cost = 0;                    // about its multiply-adds
};

// Rows whose keys were split among tasks: partials [first_partial, first_partial + parts) are theirs.
struct FusedMerge {
  HeadRows head;
  Index first_row = 0, rows = 0;
  Index first_partial = 0, parts = 0;
};

// Tasks of some heads, heaviest first, and the merges after them.
struct FusedWave {
  std::vector<HeadRows> heads;
  std::vector<FusedTask> tasks;
  std::vector<FusedMerge> merges;
  Index partials = 0;
};

// What all waves have in common.
struct FusedPlan {
  KeyAccess access = KeyAccess::packed_once;
  Index rows_per_head = 0;  // group * seq_q
  Index block_rows = 0;     // at most
  Index least_groups = 1;   // in a block
  Index heads_per_wave = 0;
};

// T gives the size of an element.
template <class T>
FusedPlan plan_fused(const AttentionShape& shape);

// Heads [first_head, first_head + count) of the batch * kv_heads there are.
template <class T>
FusedWave plan_wave(const FusedPlan& plan, const AttentionShape& shape, const AttentionOptions<T>& options, Index first_head, Index count);

}  // namespace attn
