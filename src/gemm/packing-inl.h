// Packing: copies of A and B that lie together in memory, in the order in which the micro-kernel reads them.
//
//   A  rows, next to each other:    packed[r * row_stride + p] = A[r][p]        0 <= p < kc
//   B  micro-panels of NR columns:  panel[p * NR + j] = B[p][first_col + j]
//
// A is not turned into micro-panels, as in BLIS: the micro-kernel takes single elements of A, which cost the same wherever they lie, and
// copying rows costs far less than transposing them. B's missing columns in the last panel are zeros.
#if defined(ATTN_GEMM_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_GEMM_PACKING_INL_H_
#undef ATTN_GEMM_PACKING_INL_H_
#else
#define ATTN_GEMM_PACKING_INL_H_
#endif

#include <algorithm>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "matrix/matrix.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements between packed rows of A: one cache line more than they need, since rows a power of two apart would fall into the same few sets
// of the first-level cache.
template <class T>
constexpr Index packed_row_stride(Index kc) {
  constexpr Index line = static_cast<Index>(cache_line_bytes / sizeof(T));
  return ((kc + line - 1) / line + 1) * line;
}

// packed[r * stride + p] = rows(r, p)
template <class T>
HWY_NOINLINE void pack_rows(MatrixView<const T> rows, T* packed, Index stride) {
  for (Index r = 0; r < rows.rows(); ++r) std::copy_n(rows.row(r), rows.cols(), packed + r * stride);
}

#if HWY_TARGET != HWY_SCALAR
// to(c, r) = from(r, c) for a square as wide as a vector of 128 bits, which every target's interleaving works on: 4 x 4 float32.
HWY_INLINE void transpose_square(const float* from, Index from_stride, float* to, Index to_stride) {
  const hn::FixedTag<float, 4> d;
  const auto row_0 = hn::LoadU(d, from);
  const auto row_1 = hn::LoadU(d, from + from_stride);
  const auto row_2 = hn::LoadU(d, from + 2 * from_stride);
  const auto row_3 = hn::LoadU(d, from + 3 * from_stride);
  const auto lower_even = hn::InterleaveLower(d, row_0, row_2);
  const auto lower_odd = hn::InterleaveLower(d, row_1, row_3);
  const auto upper_even = hn::InterleaveUpper(d, row_0, row_2);
  const auto upper_odd = hn::InterleaveUpper(d, row_1, row_3);
  hn::StoreU(hn::InterleaveLower(d, lower_even, lower_odd), d, to);
  hn::StoreU(hn::InterleaveUpper(d, lower_even, lower_odd), d, to + to_stride);
  hn::StoreU(hn::InterleaveLower(d, upper_even, upper_odd), d, to + 2 * to_stride);
  hn::StoreU(hn::InterleaveUpper(d, upper_even, upper_odd), d, to + 3 * to_stride);
}

// The same, 2 x 2 float64.
HWY_INLINE void transpose_square(const double* from, Index from_stride, double* to, Index to_stride) {
  const hn::FixedTag<double, 2> d;
  const auto row_0 = hn::LoadU(d, from);
  const auto row_1 = hn::LoadU(d, from + from_stride);
  hn::StoreU(hn::InterleaveLower(d, row_0, row_1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, row_0, row_1), d, to + to_stride);
}
#endif

// panel[p * Width + j] = rows(j, p): up to `Width` rows as the columns of a panel. Missing ones are zeros.
template <Index Width, class T>
HWY_NOINLINE void pack_transposed(MatrixView<const T> rows, T* HWY_RESTRICT panel) {
  if (rows.rows() < Width) std::fill_n(panel, rows.cols() * Width, T{0});
  Index whole_rows = 0;
  Index whole_cols = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr Index square = static_cast<Index>(16 / sizeof(T));
  whole_rows = rows.rows() / square * square;
  whole_cols = rows.cols() / square * square;
  for (Index j = 0; j < whole_rows; j += square) {
    for (Index p = 0; p < whole_cols; p += square) transpose_square(rows.row(j) + p, rows.row_stride(), panel + p * Width + j, Width);
  }
#endif
  for (Index j = 0; j < rows.rows(); ++j) {
    const T* HWY_RESTRICT row = rows.row(j);
    for (Index p = j < whole_rows ? whole_cols : 0; p < rows.cols(); ++p) panel[p * Width + j] = row[p];
  }
}

// panel[p * Width + j] = columns(p, j): a panel of up to `Width` columns, as they lie. Missing columns are zeros. With `past_caches` a
// whole panel (aligned to the vector) is written past the caches; the caller ends with hwy::FlushStream() before another thread reads it.
template <Index Width, class T>
HWY_NOINLINE void pack_columns(MatrixView<const T> columns, T* HWY_RESTRICT panel, bool past_caches) {
  const hn::ScalableTag<T> d;
  constexpr Index lanes = static_cast<Index>(hn::MaxLanes(d));
  static_assert(Width % lanes == 0);
  if (columns.cols() < Width) {
    for (Index p = 0; p < columns.rows(); ++p) {
      T* end = std::copy_n(columns.row(p), columns.cols(), panel + p * Width);
      std::fill(end, panel + (p + 1) * Width, T{0});
    }
    return;
  }
  // Every row lies on another page, where the hardware does not run ahead.
  constexpr Index ahead = 12;
  for (Index p = 0; p < columns.rows(); ++p) {
    const T* row = columns.row(p);
    if (p + ahead < columns.rows()) {
      for (Index j = 0; j < Width; j += static_cast<Index>(cache_line_bytes / sizeof(T))) hwy::Prefetch(columns.row(p + ahead) + j);
    }
    T* const to = panel + p * Width;
    if (past_caches) {
      for (Index j = 0; j < Width; j += lanes) hn::Stream(hn::LoadU(d, row + j), d, to + j);
    } else {
      for (Index j = 0; j < Width; j += lanes) hn::StoreU(hn::LoadU(d, row + j), d, to + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
