// The macro-kernel: a block of C, mc x nc, from a block of A and packed panels of B that lie in the caches (loops jr and ir).
#if defined(ATTN_GEMM_MACRO_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_GEMM_MACRO_KERNEL_INL_H_
#undef ATTN_GEMM_MACRO_KERNEL_INL_H_
#else
#define ATTN_GEMM_MACRO_KERNEL_INL_H_
#endif

#include <algorithm>

#include "gemm/blocking-inl.h"
#include "gemm/epilogue.h"
#include "gemm/micro_kernel-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// What a tile brings closer while its sums run: the next tile's C, which would else be waited for when it is added to, and a share of the
// next panel of B, which comes from the last-level cache.
template <class T>
struct Ahead {
  const T* c;    // null: not needed
  const T* b;    // null: none
  Index b_step;  // elements of B per row of C

  // The part-th of Blocking::mr: a row of C and a run of B.
  HWY_INLINE void prefetch(Index part, Index c_stride) const {
    constexpr Index line = static_cast<Index>(cache_line_bytes / sizeof(T));
    if (c != nullptr) {
      ATTN_UNROLL
      for (Index j = 0; j < Blocking<T>::nr; j += line) hwy::Prefetch(c + part * c_stride + j);
    }
    if (b != nullptr) {
      for (Index j = 0; j < b_step; j += line) hwy::Prefetch(b + part * b_step + j);
    }
  }
};

// A whole tile of MR x NR: C at c from kc steps of A's rows at a and of a panel of B.
template <class T>
HWY_NOINLINE void full_tile(Index kc, OperandA<T> a, const T* b, T* c, Index c_stride, const Epilogue<T>& epilogue, const Ahead<T>& ahead) {
  using Block = Blocking<T>;
  MicroTile<T, Block::mr, tile_vectors> tile;
  tile.clear();
  // The sums in parts, with prefetches between them (all at once would block the loads of the first steps); no shorter ones than keep the
  // loop's start and end small.
  const Index part = std::max<Index>(32, (kc + Block::mr - 1) / Block::mr);
  Index row = 0;
  for (Index first = 0; first < kc; first += part) {
    const Index steps = std::min(part, kc - first);
    for (; row * kc < (first + steps) * Block::mr; ++row) ahead.prefetch(row, c_stride);
    tile.multiply_add(steps, OperandA<T>{a.data + first, a.row_stride, 1}, OperandB<T>{b + first * Block::nr, Block::nr});
  }
  if (epilogue.finish != Finish::update && epilogue.alpha != T{1}) tile.scale(epilogue.alpha);
  switch (epilogue.finish) {
    case Finish::store:
      return tile.store(c, c_stride);
    case Finish::stream:
      return tile.stream(c, c_stride);
    case Finish::add:
      return tile.add_to(c, c_stride);
    case Finish::update:
      return tile.update(epilogue.alpha, epilogue.beta, c, c_stride);
  }
}

// A tile at an edge of C goes to `buffer`, row-major with rows of Vectors * lanes, and from there to C (finish_edge).
template <class T, Index Rows, Index Vectors>
HWY_NOINLINE void edge_tile(Index kc, OperandA<T> a, const T* b, T* buffer) {
  MicroTile<T, Rows, Vectors> tile;
  tile.clear();
  tile.multiply_add(kc, a, OperandB<T>{b, Blocking<T>::nr});
  tile.store(buffer, tile.cols);
}

// Ends one vector or, with a one-lane tag, one element, by the same operations as a whole tile does: a value does not depend on its place.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void finish_vector(D d, const T* sums, T* c, const Epilogue<T>& epilogue) {
  auto x = hn::Mul(hn::Set(d, epilogue.alpha), hn::LoadU(d, sums));
  if (epilogue.finish == Finish::update) x = hn::MulAdd(hn::Set(d, epilogue.beta), hn::LoadU(d, c), x);
  if (epilogue.finish == Finish::add) x = hn::Add(hn::LoadU(d, c), x);
  hn::StoreU(x, d, c);
}

template <class T>
HWY_NOINLINE void finish_edge(const T* sums, Index sums_stride, MatrixView<T> c, const Epilogue<T>& epilogue) {
  constexpr Index lanes = vector_lanes<T>;
  for (Index r = 0; r < c.rows(); ++r) {
    const T* from = sums + r * sums_stride;
    Index j = 0;
    for (; j + lanes <= c.cols(); j += lanes) finish_vector(hn::ScalableTag<T>(), from + j, c.row(r) + j, epilogue);
    for (; j < c.cols(); ++j) finish_vector(hn::CappedTag<T, 1>(), from + j, c.row(r) + j, epilogue);
  }
}

template <class T>
HWY_NOINLINE void partial_tile(Index kc, OperandA<T> a, const T* b, MatrixView<T> c, const Epilogue<T>& epilogue) {
  using Block = Blocking<T>;
  HWY_ALIGN T buffer[Block::mr * Block::nr];
  const Index vectors = (c.cols() + vector_lanes<T> - 1) / vector_lanes<T>;
  with_constant<Block::mr>(c.rows(), [&](auto rows_constant) HWY_ATTR {
    with_constant<tile_vectors>(vectors, [&](auto vectors_constant) HWY_ATTR {
      edge_tile<T, decltype(rows_constant)::value, decltype(vectors_constant)::value>(kc, a, b, buffer);
    });
  });
  finish_edge(buffer, vectors * vector_lanes<T>, c, epilogue);
}

// C block from the rows of A at `a` and the packed panels of B, kc steps.
template <class T>
HWY_NOINLINE void macro_kernel(Index kc, OperandA<T> a, const T* b_panels, MatrixView<T> c, const Epilogue<T>& epilogue) {
  using Block = Blocking<T>;
  const bool reads_c = epilogue.finish != Finish::stream;
  const Index tiles_down = (c.rows() + Block::mr - 1) / Block::mr;
  const Index b_share = kc * Block::nr / (tiles_down * Block::mr) + 1;
  for (Index j = 0; j < c.cols(); j += Block::nr) {  // loop jr
    const T* b = b_panels + j * kc;
    const T* next_b = j + Block::nr < c.cols() ? b + kc * Block::nr : nullptr;
    const Index cols = std::min(Block::nr, c.cols() - j);
    for (Index i = 0; i < c.rows(); i += Block::mr) {  // loop ir
      const Index rows = std::min(Block::mr, c.rows() - i);
      const OperandA<T> a_rows{a.data + i * a.row_stride, a.row_stride, 1};
      if (rows < Block::mr || cols < Block::nr) {
        partial_tile(kc, a_rows, b, c.block(i, j, rows, cols), epilogue);
      } else {
        const bool next_is_whole = i + 2 * Block::mr <= c.rows();
        const Ahead<T> ahead{reads_c && next_is_whole ? c.row(i + Block::mr) + j : nullptr,
                             next_b == nullptr ? nullptr : next_b + i * b_share, b_share};
        full_tile(kc, a_rows, b, c.row(i) + j, c.row_stride(), epilogue, ahead);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
