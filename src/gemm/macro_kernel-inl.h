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

// Rows of A for the macro-kernel: packed in micro-panels of MR rows, or in place with `row_stride`.
template <class T>
struct BlockA {
  const T* data;
  bool packed;
  Index row_stride;

  // Operand for the rows from `row` on, a multiple of MR.
  HWY_INLINE OperandA<T> at(Index row, Index kc) const {
    return packed ? OperandA<T>{data + row * kc, 1, Blocking<T>::mr} : OperandA<T>{data + row * row_stride, row_stride, 1};
  }
};

// Brings the tile of C towards the core while the sums run, where it will be read.
template <class T>
HWY_INLINE void prefetch_tile(const T* c, Index c_stride) {
  constexpr Index line = static_cast<Index>(64 / sizeof(T));
  ATTN_UNROLL
  for (Index r = 0; r < Blocking<T>::mr; ++r) {
    for (Index j = 0; j < Blocking<T>::nr; j += line) hwy::Prefetch(c + r * c_stride + j);
  }
}

// A whole tile of MR x NR. `Packed` fixes A's strides, so that they become constants in the addresses.
template <bool Packed, class T>
HWY_NOINLINE void full_tile(Index kc, OperandA<T> a, const T* b, T* c, Index c_stride, const Epilogue<T>& epilogue) {
  using Block = Blocking<T>;
  MicroTile<T, Block::mr, tile_vectors> tile;
  tile.clear();
  if (epilogue.finish == Finish::update || epilogue.finish == Finish::add) prefetch_tile(c, c_stride);
  if constexpr (Packed) {
    tile.multiply_add(kc, OperandA<T>{a.data, 1, Block::mr}, OperandB<T>{b, Block::nr});
  } else {
    tile.multiply_add(kc, OperandA<T>{a.data, a.row_stride, 1}, OperandB<T>{b, Block::nr});
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

// C block from A block (its rows from 0 on) and the packed panels of B (its columns from 0 on), kc steps.
template <class T>
HWY_NOINLINE void macro_kernel(Index kc, const BlockA<T>& a, const T* b_panels, MatrixView<T> c, const Epilogue<T>& epilogue) {
  using Block = Blocking<T>;
  for (Index j = 0; j < c.cols(); j += Block::nr) {  // loop jr
    const T* b = b_panels + j * kc;
    const Index cols = std::min(Block::nr, c.cols() - j);
    for (Index i = 0; i < c.rows(); i += Block::mr) {  // loop ir
      const Index rows = std::min(Block::mr, c.rows() - i);
      if (rows < Block::mr || cols < Block::nr) {
        partial_tile(kc, a.at(i, kc), b, c.block(i, j, rows, cols), epilogue);
      } else if (a.packed) {
        full_tile<true>(kc, a.at(i, kc), b, c.row(i) + j, c.row_stride(), epilogue);
      } else {
        full_tile<false>(kc, a.at(i, kc), b, c.row(i) + j, c.row_stride(), epilogue);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
