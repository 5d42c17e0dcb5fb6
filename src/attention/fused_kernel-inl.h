// The fused kernel: one task, from its rows of q to their output or, of a part of the keys, to a partial result.
#if defined(ATTN_ATTENTION_FUSED_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_KERNEL_INL_H_
#undef ATTN_ATTENTION_FUSED_KERNEL_INL_H_
#else
#define ATTN_ATTENTION_FUSED_KERNEL_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/finite.h"
#include "attention/fused_block-inl.h"
#include "attention/fused_pack-inl.h"
#include "attention/fused_scores-inl.h"
#include "attention/fused_softmax-inl.h"
#include "attention/fused_values-inl.h"
#include "attention/modifiers-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// A tile of keys, as the task's block finds it.
template <class T>
struct KeyTile {
  Index first_key;  // of the sequence
  Index keys;
  const T* packed_keys;    // null: they are read where they lie
  const T* packed_values;  // likewise
  bool finite;             // all its values are
};

// One task at work.
template <class T>
class FusedKernel {
 public:
  FusedKernel(const FusedJob<T>& job, const FusedTask& task, const PackedHead<T>* packed)
      : job_(job), task_(task), packed_(packed), state_(BlockState<T>::allocate(job, task)) {}

  void run() {
    start();
    for (Index first = task_.first_key / tile_keys<T> * tile_keys<T>; first < task_.last_key; first += tile_keys<T>) {
      const KeyTile<T> tile = make_tile(first);
      for (Index row = 0; row < state_.padded_rows; row += group_rows) {
        look_ahead(first + tile_keys<T>, row);
        attend(tile, row);
      }
    }
    if (task_.partial < 0) {
      write_output();
    } else {
      write_partial();
    }
  }

 private:
  static constexpr Index lanes = vector_lanes<T>;

  bool direct() const { return job_.plan.access == KeyAccess::direct; }

  // Scaled queries, visible ranges, and the empty sums.
  void start() {
    const Index d = job_.shape.head_dim;
    std::fill(state_.q + state_.rows * state_.q_stride, state_.q + state_.padded_rows * state_.q_stride, T{0});
    for (Index r = 0; r < state_.rows; ++r) {
      const Index head = job_.head_of(task_.head, task_.first_row + r);
      const Index query = job_.query_of(task_.first_row + r);
      const T* q = job_.tensors.q.head(task_.head.b, head).row(query);
      for (Index x = 0; x < d; ++x) state_.q[r * state_.q_stride + x] = q[x] * job_.query_scale;
      const KeyRange range = visible_range(job_.shape, job_.options, task_.head.b, query);
      state_.row_keys[r] = {std::max(range.first, task_.first_key), std::min(range.last, task_.last_key)};
    }
    for (Index row = 0; row < state_.rows; row += group_rows) find_group_keys(row);
    std::fill_n(state_.o, state_.padded_rows * state_.out_stride, T{0});
    std::fill_n(state_.row_max, state_.padded_rows, -std::numeric_limits<T>::infinity());
    std::fill_n(state_.row_sums, state_.padded_rows * lanes, T{0});
    std::fill_n(state_.rescale, round_up(group_rows, lanes), T{0});
    std::fill_n(state_.s, group_rows * tile_keys<T>, T{0});
  }

  KeyTile<T> make_tile(Index first) {
    const Index keys = std::min(tile_keys<T>, job_.shape.seq_k - first);
    const MatrixView<const T> k = job_.tensors.k.head(task_.head.b, task_.head.kv_head);
    const MatrixView<const T> v = job_.tensors.v.head(task_.head.b, task_.head.kv_head);
    if (direct()) return {first, keys, nullptr, nullptr, false};
    if (job_.plan.access == KeyAccess::packed_by_block) {
      pack_key_tile(k, first, keys, state_.keys);
      const bool finite = pack_value_tile(v, first, keys, state_.values);
      return {first, keys, state_.keys, state_.values, finite};
    }
    return {first, keys, packed_->keys + first * job_.shape.head_dim, packed_->values + first * state_.out_stride,
            packed_->finite[first / tile_keys<T>] != 0};
  }

  void find_group_keys(Index row) {
    KeyRange& all = state_.group_keys[row / group_rows];
    bool& same = state_.same_keys[row / group_rows];
    all = {job_.shape.seq_k, 0};
    same = true;
    for (Index r = row; r < std::min(state_.rows, row + group_rows); ++r) {
      const KeyRange mine = state_.row_keys[r];
      same = same && mine.first == state_.row_keys[row].first && mine.last == state_.row_keys[row].last;
      if (!mine.empty()) all = {std::min(all.first, mine.first), std::max(all.last, mine.last)};
    }
  }

  // Lets the group from `row` on fetch its share of the next tile, which is in a farther cache until the block's first group reads it.
  void look_ahead(Index next_key, Index row) {
    if (job_.plan.access != KeyAccess::packed_once || next_key >= task_.last_key) {
      ahead_ = {};
      return;
    }
    const Index groups = state_.padded_rows / group_rows;
    const Index group = row / group_rows;
    const auto share = [&](const T* from, Index elements) {
      return std::make_pair(from + elements * group / groups, from + elements * (group + 1) / groups);
    };
    const auto [key, key_end] = share(packed_->keys + next_key * job_.shape.head_dim, tile_keys<T> * job_.shape.head_dim);
    const auto [value, value_end] = share(packed_->values + next_key * state_.out_stride, tile_keys<T> * state_.out_stride);
    ahead_ = {key, key_end, value, value_end};
  }

  // The columns of a tile that hold keys of a range.
  static KeyRange columns_of(const KeyTile<T>& tile, KeyRange range) {
    return {std::clamp<Index>(range.first - tile.first_key, 0, tile.keys), std::clamp<Index>(range.last - tile.first_key, 0, tile.keys)};
  }

  // Whether all rows of a group see the same columns of the tile.
  bool sees_same(const KeyTile<T>& tile, Index row, Index rows, KeyRange columns) const {
    if (state_.same_keys[row / group_rows]) return true;
    return std::all_of(state_.row_keys + row, state_.row_keys + row + rows, [&](KeyRange keys) {
      const KeyRange mine = columns_of(tile, keys);
      return mine.first == columns.first && mine.last == columns.last;
    });
  }

  // One group of rows, from `row` on, and one tile.
  void attend(const KeyTile<T>& tile, Index row) {
    const Index rows = std::min(group_rows, state_.rows - row);
    const KeyRange columns = columns_of(tile, state_.group_keys[row / group_rows]);
    if (columns.empty()) return;
    const bool same = sees_same(tile, row, rows, columns);
    const Index first = columns.first / lanes * lanes;
    const Index last = round_up(columns.last, lanes);
    const MatrixView<const T> k = job_.tensors.k.head(task_.head.b, task_.head.kv_head);
    const MatrixView<const T> v = job_.tensors.v.head(task_.head.b, task_.head.kv_head);
    if (direct()) {
      direct_scores(state_, k.block(tile.first_key, 0, tile.keys, k.cols()), v.block(tile.first_key, 0, tile.keys, v.cols()), columns);
    } else {
      packed_scores(state_, row, rows, job_.shape.head_dim, tile.packed_keys, columns, ahead_);
    }
    if (job_.options.softcap > 0 || job_.options.mask.exists()) modify(tile, row, rows);
    if (!same || first < columns.first || columns.last < last) hide_unseen(tile, row, rows, {first, last});
    if (job_.natural) {
      online_softmax<true>(state_, row, rows, first, last);
    } else {
      online_softmax<false>(state_, row, rows, first, last);
    }
    const bool in_part = !same || job_.options.mask.exists();
    if (in_part && !finite_values(tile)) {
      masked_values(state_, job_, task_, row, tile.first_key, columns);
    } else if (direct()) {
      const Index next = tile.first_key + tile.keys;
      direct_values(state_, v.block(tile.first_key, 0, tile.keys, v.cols()),
                    k.block(next, 0, std::clamp<Index>(task_.last_key - next, 0, tile_keys<T>), k.cols()), columns);
    } else {
      packed_values(state_, row, rows, job_.shape.head_dim_v, tile.packed_values, columns, ahead_);
    }
  }

  bool finite_values(const KeyTile<T>& tile) const {
    if (!direct()) return tile.finite;
    const MatrixView<const T> v = job_.tensors.v.head(task_.head.b, task_.head.kv_head);
    for (Index j = 0; j < tile.keys; ++j) {
      if (any_non_finite(v.row(tile.first_key + j), v.cols())) return false;
    }
    return true;
  }

  // Softcap and mask.
  void modify(const KeyTile<T>& tile, Index row, Index rows) {
    const MaskView<T>& mask = job_.options.mask;
    for (Index r = 0; r < rows; ++r) {
      const KeyRange mine = columns_of(tile, state_.row_keys[row + r]);
      T* s = state_.s + r * tile_keys<T> + mine.first;
      if (job_.options.softcap > 0) cap_scores(s, mine.size(), static_cast<T>(job_.options.softcap));
      const Index stacked_row = task_.first_row + row + r;
      const Index at = mask.row_offset(task_.head.b, job_.head_of(task_.head, stacked_row), job_.query_of(stacked_row));
      apply_mask(s, mask, at + (tile.first_key + mine.first) * mask.key_stride, mine.size());
    }
  }

  // -inf in the columns of `columns` that a row does not see.
  void hide_unseen(const KeyTile<T>& tile, Index row, Index rows, KeyRange columns) {
    constexpr T forbidden = -std::numeric_limits<T>::infinity();
    for (Index r = 0; r < rows; ++r) {
      T* s = state_.s + r * tile_keys<T>;
      const KeyRange mine = columns_of(tile, state_.row_keys[row + r]);
      if (mine.empty()) {
        std::fill(s + columns.first, s + columns.last, forbidden);
      } else {
        std::fill(s + columns.first, s + mine.first, forbidden);
        std::fill(s + mine.last, s + columns.last, forbidden);
      }
    }
  }

  T row_sum(Index r) const {
    const hn::ScalableTag<T> d;
    return hn::GetLane(hn::SumOfLanes(d, hn::LoadU(d, state_.row_sums + r * lanes)));
  }

  void write_output() {
    for (Index r = 0; r < state_.rows; ++r) {
      finish_row(job_, task_.head, task_.first_row + r, state_.o + r * state_.out_stride, state_.row_max[r], row_sum(r));
    }
  }

  void write_partial() {
    for (Index r = 0; r < state_.rows; ++r) {
      T* to = job_.partial_row(task_.partial, r);
      std::copy_n(state_.o + r * state_.out_stride, state_.out_stride, to);
      to[state_.out_stride] = state_.row_max[r];
      to[state_.out_stride + 1] = row_sum(r);
    }
  }

  const FusedJob<T>& job_;
  const FusedTask& task_;
  const PackedHead<T>* packed_;
  BlockState<T> state_;
  NextTile<T> ahead_;
};

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
