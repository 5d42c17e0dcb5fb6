// The second product of the fused kernel: o = diag(rescale) o + P V for a group of rows and the values of a tile.
#if defined(ATTN_ATTENTION_FUSED_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_VALUES_INL_H_
#undef ATTN_ATTENTION_FUSED_VALUES_INL_H_
#else
#define ATTN_ATTENTION_FUSED_VALUES_INL_H_
#endif

#include <algorithm>

#include "attention/fused_block-inl.h"
#include "attention/fused_pack-inl.h"
#include "attention/visibility.h"
#include "gemm/blocking-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// Rows of the register tile for a panel of `Vectors`: as many accumulators as the score tile has, or one row of them for every broadcast.
template <Index Vectors>
inline constexpr Index value_rows = tile_vectors == 3 ? (Vectors == 4   ? 6
                                                         : Vectors == 3 ? 8
                                                                        : 12)
                                                      : tile_rows*(Vectors == 1 ? 2 : 1);

// o (Rows, Vectors * lanes) = diag(rescale) o + p (Rows, keys) values (keys, ...), in parts of `Part` keys, before each of which
// fetch(first key of the part) is called. Each tile's sum starts from zero: added up in two levels, long sequences round less.
template <class T, Index Rows, Index Vectors, Index Part, class Fetch>
HWY_INLINE void value_register_tile(Index keys, const T* p, const T* values, Index value_stride, T* o, Index o_stride, const T* rescale,
                                    Fetch fetch) {
  MicroTile<T, Rows, Vectors> tile;
  tile.clear();
  for (Index j = 0; j < keys; j += Part) {
    fetch(j);
    tile.multiply_add(std::min(Part, keys - j), OperandA<T>{p + j, tile_keys<T>, 1}, OperandB<T>{values + j * value_stride, value_stride});
  }
  tile.add_to_scaled(o, o_stride, rescale);
}

template <class T, Index Vectors>
HWY_NOINLINE void packed_register_tile(Index keys, const T* p, const T* values, T* o, Index o_stride, const T* rescale, NextTile<T>& next) {
  value_register_tile<T, value_rows<Vectors>, Vectors, 60>(keys, p, values, Vectors * vector_lanes<T>, o, o_stride, rescale,
                                                           [&](Index) HWY_ATTR { next.fetch(); });
}

// The rows [row, row + rows) of a group; keys [columns.first, columns.last) of the packed tile.
template <class T>
HWY_NOINLINE void packed_values(const BlockState<T>& state, Index row, Index rows, Index head_dim_v, const T* value_tile, KeyRange columns,
                                NextTile<T>& ahead) {
  for_each_value_panel<T>(head_dim_v, [&](Index column, Index vectors) HWY_ATTR {
    with_constant<widest_panel>(vectors, [&](auto constant) HWY_ATTR {
      constexpr Index width = decltype(constant)::value * vector_lanes<T>;
      const T* values = value_tile + tile_keys<T> * column + columns.first * width;
      for (Index r = 0; r < rows; r += value_rows<decltype(constant)::value>) {
        packed_register_tile<T, decltype(constant)::value>(columns.size(), state.s + r * tile_keys<T> + columns.first, values,
                                                           state.o + (row + r) * state.out_stride + column, state.out_stride,
                                                           state.rescale + r, ahead);
      }
    });
  });
}

// The columns behind the last whole vector, for values where they lie.
template <class T>
HWY_NOINLINE void direct_last_columns(const BlockState<T>& state, MatrixView<const T> v, KeyRange columns, Index column) {
  for (Index r = 0; r < state.rows; ++r) {
    T* o = state.o + r * state.out_stride;
    for (Index x = column; x < v.cols(); ++x) {
      T sum = state.rescale[r] * o[x];
      for (Index j = columns.first; j < columns.last; ++j) sum += state.s[r * tile_keys<T> + j] * v(j, x);
      o[x] = sum;
    }
  }
}

// Rows of p and a few vectors of columns of values where they lie; fetches next_keys along with the first.
template <class T, Index Rows, Index Vectors>
HWY_NOINLINE void direct_register_tile(const BlockState<T>& state, Index row, Index column, MatrixView<const T> v,
                                       MatrixView<const T> next_keys, KeyRange columns) {
  constexpr Index part = 8;
  value_register_tile<T, Rows, Vectors, part>(columns.size(), state.s + row * tile_keys<T> + columns.first, v.row(columns.first) + column,
                                              v.row_stride(), state.o + row * state.out_stride + column, state.out_stride,
                                              state.rescale + row, [&](Index j) HWY_ATTR { fetch_rows(next_keys, j, j + part); });
}

// A block of few rows; values where they lie, v.row(0) that of the tile's first key. Fetches the next tile's keys meanwhile.
template <class T>
HWY_NOINLINE void direct_values(const BlockState<T>& state, MatrixView<const T> v, MatrixView<const T> next_keys, KeyRange columns) {
  constexpr Index lanes = vector_lanes<T>;
  const Index whole = v.cols() / lanes * lanes;
  for (Index column = 0; column < whole;) {
    const Index vectors = std::min(widest_panel, (whole - column) / lanes);
    for (Index r = 0; r < state.rows; r += 4) {
      const bool first = column == 0 && r == 0;
      with_constant<4>(std::min<Index>(4, state.rows - r), [&](auto rows) HWY_ATTR {
        with_constant<widest_panel>(vectors, [&](auto width) HWY_ATTR {
          direct_register_tile<T, decltype(rows)::value, decltype(width)::value>(state, r, column, v,
                                                                                 first ? next_keys : MatrixView<const T>(), columns);
        });
      });
    }
    column += vectors * lanes;
  }
  if (whole < v.cols()) direct_last_columns(state, v, columns, whole);
}

// The slow way, key by key, for a tile that holds values which are not finite and that some row sees only in part: the weight 0 of a
// masked key would make NaN of them. `first_key` is the tile's.
template <class T>
HWY_NOINLINE void masked_values(const BlockState<T>& state, const FusedJob<T>& job, const FusedTask& task, Index row, Index first_key,
                                KeyRange columns) {
  const MatrixView<const T> v = job.tensors.v.head(task.head.b, task.head.kv_head);
  for (Index r = 0; r < std::min(group_rows, state.rows - row); ++r) {
    const Index head = job.head_of(task.head, task.first_row + row + r);
    const Index query = job.query_of(task.first_row + row + r);
    T* o = state.o + (row + r) * state.out_stride;
    for (Index x = 0; x < v.cols(); ++x) o[x] *= state.rescale[r];
    for (Index j = columns.first; j < columns.last; ++j) {
      if (!is_visible(job.shape, job.options, task.head.b, head, query, first_key + j)) continue;
      const T p = state.s[r * tile_keys<T> + j];
      for (Index x = 0; x < v.cols(); ++x) o[x] += p * v(first_key + j, x);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
