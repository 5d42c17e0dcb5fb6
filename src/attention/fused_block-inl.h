// A block of query rows of the fused kernel, and the arrays it works in.
#if defined(ATTN_ATTENTION_FUSED_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_BLOCK_INL_H_
#undef ATTN_ATTENTION_FUSED_BLOCK_INL_H_
#else
#define ATTN_ATTENTION_FUSED_BLOCK_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "attention/fused_job.h"
#include "attention/visibility.h"
#include "gemm/blocking-inl.h"
#include "gemm/packing-inl.h"
#include "gemm/workspace.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// Memory of one thread while it works on one block. Rows are padded to whole groups; padding rows hold anything and reach nothing.
template <class T>
struct BlockState {
  static constexpr Index lanes = vector_lanes<T>;

  Index rows, padded_rows, q_stride, out_stride;
  T* q;         // [padded_rows][q_stride] scaled
  T* s;         // [group_rows][tile_keys] scores, then weights, of one group and tile; rows behind the last hold anything
  T* o;         // [padded_rows][out_stride] not yet divided by the sums
  T* row_max;   // [padded_rows] of the scores so far
  T* row_sums;  // [padded_rows][lanes] of the weights so far, lane by lane
  T* rescale;   // [group_rows] what the new maximum makes of earlier weights
  T* keys;      // one packed tile, where blocks pack their own
  T* values;

  // What each row sees of the task's keys; what any row of a group sees, and whether all of its rows see that.
  KeyRange row_keys[block_groups * group_rows];
  KeyRange group_keys[block_groups];
  bool same_keys[block_groups];

  static BlockState allocate(const FusedJob<T>& job, const FusedTask& task) {
    BlockState state{};
    state.rows = task.rows;
    state.padded_rows = round_up(task.rows, group_rows);
    state.q_stride = packed_row_stride<T>(job.shape.head_dim);
    state.out_stride = padded_dim_v<T>(job.shape);
    const bool own_tile = job.plan.access == KeyAccess::packed_by_block;
    const struct {
      T** array;
      Index elements;
    } arrays[] = {{&state.q, state.padded_rows * state.q_stride},
                  {&state.s, group_rows * tile_keys<T>},
                  {&state.o, state.padded_rows * state.out_stride},
                  {&state.row_max, state.padded_rows},
                  {&state.row_sums, state.padded_rows * lanes},
                  {&state.rescale, round_up(group_rows, lanes)},
                  {&state.keys, own_tile ? tile_keys<T> * job.shape.head_dim : 0},
                  {&state.values, own_tile ? tile_keys<T> * state.out_stride : 0}};
    constexpr Index line = static_cast<Index>(cache_line_bytes / sizeof(T));
    Index total = 0;
    for (const auto& wanted : arrays) total += round_up(wanted.elements, line);
    T* next = workspace<T>(total);
    for (const auto& wanted : arrays) {
      *wanted.array = next;
      next += round_up(wanted.elements, line);
    }
    return state;
  }
};

// What is still to be fetched into the second-level cache while sums run: two runs of elements, a few lines at a time, since many at once
// would hold up the sums' own loads.
template <class T>
struct NextTile {
  const T* keys = nullptr;
  const T* keys_end = nullptr;
  const T* values = nullptr;
  const T* values_end = nullptr;

  HWY_INLINE void fetch() {
    constexpr Index line = static_cast<Index>(cache_line_bytes / sizeof(T));
    constexpr Index lines = 8;
    const T*& next = keys < keys_end ? keys : values;
    const T* const end = next + std::min<Index>(lines * line, (keys < keys_end ? keys_end : values_end) - next);
    for (; next < end; next += line) __builtin_prefetch(next, 0, 2);
  }
};

// Fetches rows [first, last) of a matrix into the second-level cache.
template <class T>
HWY_INLINE void fetch_rows(MatrixView<const T> rows, Index first, Index last) {
  constexpr Index line = static_cast<Index>(cache_line_bytes / sizeof(T));
  for (Index i = first; i < std::min(last, rows.rows()); ++i) {
    for (Index x = 0; x < rows.cols(); x += line) __builtin_prefetch(rows.row(i) + x, 0, 2);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
