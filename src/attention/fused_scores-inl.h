// Scores of the fused kernel: a group of rows of q against the keys of a tile.
#if defined(ATTN_ATTENTION_FUSED_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_SCORES_INL_H_
#undef ATTN_ATTENTION_FUSED_SCORES_INL_H_
#else
#define ATTN_ATTENTION_FUSED_SCORES_INL_H_
#endif

#include <algorithm>

#include "attention/fused_block-inl.h"
#include "attention/lanes-inl.h"
#include "gemm/blocking-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// One register tile, MR rows x NR keys: `depth` coordinates of rows of q and of a panel of keys, added to s or, `first`, to zero.
template <class T>
HWY_NOINLINE void score_register_tile(Index depth, const T* q, Index q_stride, const T* key_panel, T* s, bool first) {
  using Block = Blocking<T>;
  MicroTile<T, Block::mr, tile_vectors> tile;
  if (first) {
    tile.clear();
  } else {
    tile.load(s, tile_keys<T>);
  }
  tile.multiply_add(depth, OperandA<T>{q, q_stride, 1}, OperandB<T>{key_panel, Block::nr});
  tile.store(s, tile_keys<T>);
}

// s[r][j] = q . k for the group_rows rows from `row` on and all panels of the tile that hold keys of [first, last). The panel of keys stays
// in the first-level cache while the group's rows pass by, a deep one (kc coordinates) after another.
template <class T>
HWY_NOINLINE void packed_scores(const BlockState<T>& state, Index row, Index head_dim, const T* key_tile, KeyRange columns,
                                NextTile<T>& ahead) {
  using Block = Blocking<T>;
  for (Index j = columns.first / Block::nr * Block::nr; j < columns.last; j += Block::nr) {
    Index x = 0;
    do {
      const Index depth = std::min(Block::kc, head_dim - x);
      for (Index r = 0; r < group_rows; r += Block::mr) {
        ahead.fetch();
        score_register_tile(depth, state.q + (row + r) * state.q_stride + x, state.q_stride, key_tile + j * head_dim + x * Block::nr,
                            state.s + r * tile_keys<T> + j, x == 0);
      }
      x += depth;
    } while (x < head_dim);
  }
}

// s[r][j] for Rows rows of q and Keys keys, where they lie: one vector of partial sums each, so that a key is read once for all rows.
template <class T, Index Rows, Index Keys>
HWY_INLINE void dot_products(const T* q, Index q_stride, Index head_dim, const T* k, Index k_stride, T* s) {
  const hn::ScalableTag<T> d;
  constexpr Index lanes = vector_lanes<T>;
  using V = hn::Vec<decltype(d)>;
  V sums[Rows][Keys];
  ATTN_UNROLL
  for (Index i = 0; i < Rows * Keys; ++i) sums[i / Keys][i % Keys] = hn::Zero(d);
  const auto add = [&](Index x, auto load) HWY_ATTR {
    V keys[Keys];
    ATTN_UNROLL
    for (Index j = 0; j < Keys; ++j) keys[j] = load(k + j * k_stride + x);
    ATTN_UNROLL
    for (Index r = 0; r < Rows; ++r) {
      const V query = load(q + r * q_stride + x);
      ATTN_UNROLL
      for (Index j = 0; j < Keys; ++j) sums[r][j] = hn::MulAdd(query, keys[j], sums[r][j]);
    }
  };
  Index x = 0;
  for (; x + lanes <= head_dim; x += lanes) add(x, [&](const T* from) HWY_ATTR { return hn::LoadU(d, from); });
  if (x < head_dim) add(x, [&](const T* from) HWY_ATTR { return load_first(d, from, head_dim - x, T{0}); });
  ATTN_UNROLL
  for (Index i = 0; i < Rows * Keys; ++i) s[i / Keys * tile_keys<T> + i % Keys] = hn::GetLane(hn::SumOfLanes(d, sums[i / Keys][i % Keys]));
}

// s[r][j] for a block of few rows and keys [columns.first, columns.last) of the tile whose first key is k.row(0). At most 4 rows x 4 keys
// of sums at a time: enough multiply-adds in flight, within 16 registers where there are no more.
template <class T>
HWY_NOINLINE void direct_scores(const BlockState<T>& state, Index head_dim, MatrixView<const T> k, KeyRange columns) {
  for (Index r = 0; r < state.rows; r += 4) {
    with_constant<4>(std::min<Index>(4, state.rows - r), [&](auto rows_constant) HWY_ATTR {
      constexpr Index rows = decltype(rows_constant)::value;
      constexpr Index keys = rows == 1 ? 4 : 2;
      const T* q = state.q + r * state.q_stride;
      T* s = state.s + r * tile_keys<T>;
      Index j = columns.first;
      for (; j + keys <= columns.last; j += keys) dot_products<T, rows, keys>(q, state.q_stride, head_dim, k.row(j), k.row_stride(), s + j);
      for (; j < columns.last; ++j) dot_products<T, rows, 1>(q, state.q_stride, head_dim, k.row(j), k.row_stride(), s + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
