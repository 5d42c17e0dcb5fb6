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

#include "hwy/highway.h"
#include "matrix/matrix.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

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

// panel[p * Width + j] = rows(j, p): up to `Width` rows as the columns of a panel. Missing ones are zeros.
template <Index Width, class T>
HWY_NOINLINE void pack_transposed(MatrixView<const T> rows, T* HWY_RESTRICT panel) {
  if (rows.rows() < Width) std::fill_n(panel, rows.cols() * Width, T{0});
  for (Index j = 0; j < rows.rows(); ++j) {
    const T* HWY_RESTRICT row = rows.row(j);
    for (Index p = 0; p < rows.cols(); ++p) panel[p * Width + j] = row[p];
  }
}

// panel[p * Width + j] = columns(p, j): a panel of up to `Width` columns, as they lie. Missing columns are zeros.
template <Index Width, class T>
HWY_NOINLINE void pack_columns(MatrixView<const T> columns, T* HWY_RESTRICT panel) {
  for (Index p = 0; p < columns.rows(); ++p) {
    T* end = std::copy_n(columns.row(p), columns.cols(), panel + p * Width);
    std::fill(end, panel + (p + 1) * Width, T{0});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
