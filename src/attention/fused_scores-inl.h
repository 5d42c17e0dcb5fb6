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

// s[r][j] = q . k for the rows [row, row + rows) of a group and all panels of the tile that hold keys of [first, last). The panel of keys
// stays in the nearest cache that holds it while the group's rows pass by, a deep one (kc coordinates) after another.
template <class T>
HWY_NOINLINE void packed_scores(const BlockState<T>& state, Index row, Index rows, Index head_dim, const T* key_tile, KeyRange columns,
                                NextTile<T>& ahead) {
  using Block = Blocking<T>;
  for (Index j = columns.first / Block::nr * Block::nr; j < columns.last; j += Block::nr) {
    Index x = 0;
    do {
      const Index depth = std::min(Block::kc, head_dim - x);
      for (Index r = 0; r < rows; r += Block::mr) {
        ahead.fetch();
        score_register_tile(depth, state.q + (row + r) * state.q_stride + x, state.q_stride, key_tile + j * head_dim + x * Block::nr,
                            state.s + r * tile_keys<T> + j, x == 0);
      }
      x += depth;
    } while (x < head_dim);
  }
}

// Neighbouring keys whose dot products are summed together: the elements of 128 bits, within which every target interleaves.
template <class T>
inline constexpr Index summed_keys = HWY_TARGET == HWY_SCALAR ? 1 : static_cast<Index>(16 / sizeof(T));

#if HWY_TARGET != HWY_SCALAR
// Sums the 128-bit blocks of v and stores the one that is left.
template <class D, class V>
HWY_INLINE void store_sum_of_blocks(D d, V v, hn::TFromD<D>* to) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    store_sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), to);
  } else {
    hn::StoreU(v, d, to);
  }
}

// to[i] = the sum of the lanes of v[i]: pairs of vectors are interleaved and added until a block holds one partial sum of each.
HWY_INLINE void store_sums(const hn::Vec<hn::ScalableTag<float>>* v, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto sums_01 = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const auto sums_23 = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto pairs_01 = hn::BitCast(pairs, sums_01);
  const auto pairs_23 = hn::BitCast(pairs, sums_23);
  store_sum_of_blocks(d,
                      hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, pairs_01, pairs_23)),
                              hn::BitCast(d, hn::InterleaveUpper(pairs, pairs_01, pairs_23))),
                      to);
}
HWY_INLINE void store_sums(const hn::Vec<hn::ScalableTag<double>>* v, double* to) {
  const hn::ScalableTag<double> d;
  store_sum_of_blocks(d, hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1])), to);
}
#else
HWY_INLINE void store_sums(const hn::Vec<hn::ScalableTag<float>>* v, float* to) { *to = hn::GetLane(*v); }
HWY_INLINE void store_sums(const hn::Vec<hn::ScalableTag<double>>* v, double* to) { *to = hn::GetLane(*v); }
#endif

// s[r][j] for Rows rows of q and Keys keys, where they lie: a vector of partial sums each, so that a key is read once for all rows. Keys
// are read one after the other, as they lie in memory: the hardware then runs ahead of them. Keys is 1 or a multiple of summed_keys.
template <class T, Index Rows, Index Keys>
HWY_INLINE void dot_products(const T* q, Index q_stride, MatrixView<const T> k, Index first, T* s) {
  const hn::ScalableTag<T> d;
  constexpr Index lanes = vector_lanes<T>;
  const Index whole = k.cols() / lanes * lanes;
  hn::Vec<decltype(d)> sums[Rows][Keys];
  ATTN_UNROLL
  for (Index j = 0; j < Keys; ++j) {
    const T* key = k.row(first + j);
    ATTN_UNROLL
    for (Index r = 0; r < Rows; ++r) sums[r][j] = hn::Zero(d);
    for (Index x = 0; x < whole; x += lanes) {
      const auto element = hn::LoadU(d, key + x);
      ATTN_UNROLL
      for (Index r = 0; r < Rows; ++r) sums[r][j] = hn::MulAdd(hn::LoadU(d, q + r * q_stride + x), element, sums[r][j]);
    }
    if (whole < k.cols()) {
      const auto element = load_first(d, key + whole, k.cols() - whole, T{0});
      ATTN_UNROLL
      for (Index r = 0; r < Rows; ++r) {
        sums[r][j] = hn::MulAdd(load_first(d, q + r * q_stride + whole, k.cols() - whole, T{0}), element, sums[r][j]);
      }
    }
  }
  ATTN_UNROLL
  for (Index r = 0; r < Rows; ++r) {
    if constexpr (Keys == 1) {
      s[r * tile_keys<T>] = hn::GetLane(hn::SumOfLanes(d, sums[r][0]));
    } else {
      for (Index j = 0; j < Keys; j += summed_keys<T>) store_sums(sums[r] + j, s + r * tile_keys<T> + j);
    }
  }
}

// Rows of q that share a key while it is in registers, 4 keys at a time: 16 sums of 32 registers, or 8 of 16.
inline constexpr Index direct_tile_rows = tile_vectors == 3 ? 4 : 2;

// s[r][j] for a block of few rows and keys [columns.first, columns.last) of the tile whose first key is k.row(0). Memory is the limit: the
// values of the same keys are fetched meanwhile.
template <class T>
HWY_NOINLINE void direct_scores(const BlockState<T>& state, MatrixView<const T> k, MatrixView<const T> v, KeyRange columns) {
  for (Index r = 0; r < state.rows; r += direct_tile_rows) {
    with_constant<direct_tile_rows>(std::min(direct_tile_rows, state.rows - r), [&](auto rows) HWY_ATTR {
      constexpr Index keys = 4;
      const T* q = state.q + r * state.q_stride;
      T* s = state.s + r * tile_keys<T>;
      Index j = columns.first;
      for (; j + keys <= columns.last; j += keys) {
        if (r == 0) fetch_rows(v, j, j + keys);
        dot_products<T, decltype(rows)::value, keys>(q, state.q_stride, k, j, s + j);
      }
      for (; j < columns.last; ++j) dot_products<T, decltype(rows)::value, 1>(q, state.q_stride, k, j, s + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
