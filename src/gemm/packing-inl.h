// Packing: copies of A and B in the order in which the micro-kernel reads them.
//
//   A  micro-panels of MR rows:     panel[p * MR + r] = A[first_row + r][p]     0 <= p < kc
//   B  micro-panels of NR columns:  panel[p * NR + j] = B[p][first_col + j]
//
// The last panel may have fewer rows or columns: A's missing rows are left as they are (never read), B's missing columns are zeros up to
// the next whole vector.
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

// panel[p * Width + r] = rows(r, p): a panel of up to `Width` rows, transposed. Missing rows are left as they are.
template <Index Width, class T>
HWY_NOINLINE void pack_rows(MatrixView<const T> rows, T* HWY_RESTRICT panel) {
  for (Index r = 0; r < rows.rows(); ++r) {
    const T* HWY_RESTRICT row = rows.row(r);
    for (Index p = 0; p < rows.cols(); ++p) panel[p * Width + r] = row[p];
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
