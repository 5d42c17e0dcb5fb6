// The GEMM micro-kernel: a tile of C held in registers while k runs.
//
//     C[r][j] = sum over p in [0, k) of A[r][p] * B[p][j]        0 <= r < Rows,  0 <= j < NR = Vectors * lanes
//
// one rank-1 update per step p: NR elements of B as vectors, one broadcast element of A per row, Rows * Vectors multiply-adds (fused where
// the target has them). Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008; the words are
// those of Van Zee and van de Geijn, "BLIS", ACM TOMS 41(3), 2015.
//
// Contract
//   A  element (r, p) at data[r * row_stride + p * k_stride]: a row-major matrix as it lies (k_stride 1), or packed in micro-panels of MR
//      rows (row_stride 1, k_stride MR). Exactly rows [0, Rows) and steps [0, k) are read.
//   B  element (p, j) at data[p * k_stride + j]: packed in micro-panels (k_stride NR), or a row-major matrix as it lies, provided that it
//      has NR columns. No alignment is needed; 64 bytes are fastest. Columns do not mix: what stands in a padding column, NaN included,
//      reaches that column of the tile alone.
//   C  row-major. A tile starts from zero (clear) or from C (load); C is read nowhere else than there and in what adds to it (update,
//      add_to, add_to_scaled). Sums run in the order of p, so an element's value does not depend on Rows, Vectors or its place.
//   Edges: fewer rows by a smaller `Rows` (with_constant picks the instance), fewer columns by fewer `Vectors` and store_columns, which
//   writes whole vectors only where they fit.
//
// Use, in a file that Highway compiles once per target (see gemm.cpp):
//
//     MicroTile<T, 8, 3> tile;
//     tile.clear();
//     tile.multiply_add(k, OperandA<T>{a, a_stride, 1}, OperandB<T>{panel, tile.cols});
//     tile.store(c, c_stride);
//
// No include guard: Highway includes this once per target (the lines below are its idiom).
#if defined(ATTN_GEMM_MICRO_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_GEMM_MICRO_KERNEL_INL_H_
#undef ATTN_GEMM_MICRO_KERNEL_INL_H_
#else
#define ATTN_GEMM_MICRO_KERNEL_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "gemm/unroll.h"
#include "hwy/highway.h"
#include "matrix/matrix.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct OperandA {
  const T* data;
  Index row_stride;
  Index k_stride;
};

template <class T>
struct OperandB {
  const T* data;
  Index k_stride;
};

// Elements in one vector of this target.
template <class T>
inline constexpr Index vector_lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<T>()));

// The tile of `Rows` x (`Vectors` * lanes) elements. Rows * Vectors + Vectors + 1 must not exceed the vector registers, or the accumulators
// are spilled: 32 on AVX3 and NEON, 16 on the other x86 targets (those without FMA need one more for the product).
template <class T, Index Rows, Index Vectors>
class MicroTile {
 public:
  static constexpr Index rows = Rows;
  static constexpr Index lanes = vector_lanes<T>;
  static constexpr Index cols = Vectors * lanes;

  // tile = 0
  HWY_INLINE void clear() {
    for_each([](V& x, Index, Index) HWY_ATTR { x = hn::Zero(D()); });
  }

  // tile = C
  HWY_INLINE void load(const T* c, Index c_stride) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR { x = hn::LoadU(D(), c + r * c_stride + v * lanes); });
  }

  // tile += A B, over k steps. With a jump after every step the multiply-adds reach 80 to 88 % of their peak on operands in the first-level
  // cache (AMD Zen 3, AVX2, 30 November 2026), after every fourth 93 to 97 %, after every eighth 96 to 98 %.
  HWY_INLINE void multiply_add(Index k, OperandA<T> a, OperandB<T> b) {
    const T* HWY_RESTRICT a_step = a.data;
    const T* HWY_RESTRICT b_step = b.data;
    ATTN_UNROLL_8
    for (Index p = 0; p < k; ++p) {
      V b_vectors[Vectors];
      ATTN_UNROLL
      for (Index v = 0; v < Vectors; ++v) b_vectors[v] = hn::LoadU(D(), b_step + v * lanes);
      ATTN_UNROLL
      for (Index r = 0; r < Rows; ++r) {
        const V a_element = hn::Set(D(), a_step[r * a.row_stride]);
        ATTN_UNROLL
        for (Index v = 0; v < Vectors; ++v) tile_[r][v] = hn::MulAdd(a_element, b_vectors[v], tile_[r][v]);
      }
      a_step += a.k_stride;
      b_step += b.k_stride;
    }
  }

  // C = tile
  HWY_INLINE void store(T* c, Index c_stride) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR { hn::StoreU(x, D(), c + r * c_stride + v * lanes); });
  }

  // C = tile past the caches, where C is written once and larger than they are. c and its rows must be aligned to the vector. The caller
  // ends with hwy::FlushStream() before another thread reads C.
  HWY_INLINE void stream(T* c, Index c_stride) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR { hn::Stream(x, D(), c + r * c_stride + v * lanes); });
  }

  // C = alpha * tile + beta * C. Reads C: for beta == 0 use scale and store.
  HWY_INLINE void update(T alpha, T beta, T* c, Index c_stride) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR {
      T* at = c + r * c_stride + v * lanes;
      hn::StoreU(hn::MulAdd(hn::Set(D(), beta), hn::LoadU(D(), at), hn::Mul(hn::Set(D(), alpha), x)), D(), at);
    });
  }

  // C += tile
  HWY_INLINE void add_to(T* c, Index c_stride) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR {
      T* at = c + r * c_stride + v * lanes;
      hn::StoreU(hn::Add(hn::LoadU(D(), at), x), D(), at);
    });
  }

  // C = diag(row_scale) C + tile, row_scale[Rows]
  HWY_INLINE void add_to_scaled(T* c, Index c_stride, const T* row_scale) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR {
      T* at = c + r * c_stride + v * lanes;
      hn::StoreU(hn::MulAdd(hn::Set(D(), row_scale[r]), hn::LoadU(D(), at), x), D(), at);
    });
  }

  // tile *= factor
  HWY_INLINE void scale(T factor) {
    for_each([=](V& x, Index, Index) HWY_ATTR { x = hn::Mul(hn::Set(D(), factor), x); });
  }

  // C = tile in the first `columns` columns, 0 < columns <= cols; nothing is written behind them.
  HWY_INLINE void store_columns(T* c, Index c_stride, Index columns) {
    for_each([=](V& x, Index r, Index v) HWY_ATTR {
      T* at = c + r * c_stride + v * lanes;
      const Index left = columns - v * lanes;
      if (left >= lanes) {
        hn::StoreU(x, D(), at);
      } else if (left > 0) {
        HWY_ALIGN T part[lanes];
        hn::Store(x, D(), part);
        std::copy_n(part, left, at);
      }
    });
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  // Calls body(vector, row, vector index) for every vector of the tile, unrolled, so that all indices are constants.
  template <class Body>
  HWY_INLINE void for_each(Body body) {
    ATTN_UNROLL
    for (Index r = 0; r < Rows; ++r) {
      ATTN_UNROLL
      for (Index v = 0; v < Vectors; ++v) body(tile_[r][v], r, v);
    }
  }

  V tile_[Rows][Vectors];
};

// Calls body(std::integral_constant<Index, n>()) for 1 <= n <= Max: how an edge gets the instance for its number of rows or vectors.
// A lambda given as `body` needs HWY_ATTR after its parameters, or clang compiles it for the baseline.
template <Index Max, class Body>
HWY_INLINE void with_constant(Index n, Body&& body) {
  if (n == Max) {
    body(std::integral_constant<Index, Max>());
  } else if constexpr (Max > 1) {
    with_constant<Max - 1>(n, body);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
