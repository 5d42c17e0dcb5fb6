// gemm with few rows, as in a layer that generates one token after the other: m <= thin_rows.
//
// Each element of B meets only m elements of A, so that the time is that of reading B. Packing all of it first, as gemm.cpp does for larger
// products, would read and write it once more. Here B is read once: its rows as they lie where it is k x n, one micro-panel at a time where
// it is n x k. Sums run in the order of p within passes of kc, and passes are added in their order, as in the five loops of gemm.cpp: an
// element's bits do not depend on which of the two computes it. What is kept in between fits on a thread's stack or is allocated
// beforehand, so that nothing is where several threads run.
//
// No include guard but Highway's.
#if defined(ATTN_GEMM_THIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_GEMM_THIN_INL_H_
#undef ATTN_GEMM_THIN_INL_H_
#else
#define ATTN_GEMM_THIN_INL_H_
#endif

#include <omp.h>

#include <algorithm>

#include "gemm/macro_kernel-inl.h"
#include "gemm/packing-inl.h"
#include "gemm/problem.h"
#include "gemm/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// From about eight rows on packing pays: B is then used often enough.
inline constexpr Index thin_rows = 4;

// Columns of C whose sums one thread keeps at a time: thin_rows times 4 KiB at most, in the first-level cache beside the rows of B.
template <class T>
inline constexpr Index thin_columns = 4096 / static_cast<Index>(sizeof(T));

// sums[r][0 .. lanes) += sum over s of A[r][p + s] B[p + s][j ..), s in order. `load(row)` gives that vector of B.
template <class T, Index Rows, Index Steps, class Load>
HWY_INLINE void add_steps(MatrixView<const T> a, Index p, Load load, T* sums, Index sums_stride) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> b[Steps];
  ATTN_UNROLL
  for (Index s = 0; s < Steps; ++s) b[s] = load(p + s);
  ATTN_UNROLL
  for (Index r = 0; r < Rows; ++r) {
    auto sum = hn::LoadU(d, sums + r * sums_stride);
    ATTN_UNROLL
    for (Index s = 0; s < Steps; ++s) sum = hn::MulAdd(hn::Set(d, a(r, p + s)), b[s], sum);
    hn::StoreU(sum, d, sums + r * sums_stride);
  }
}

// sums (Rows, round_up(b.cols(), lanes)) += A[:, p .. p + Steps) B[p .. p + Steps, :)
template <class T, Index Rows, Index Steps>
HWY_INLINE void add_rows(MatrixView<const T> a, MatrixView<const T> b, Index p, T* sums, Index sums_stride) {
  const hn::ScalableTag<T> d;
  constexpr Index lanes = vector_lanes<T>;
  Index j = 0;
  for (; j + lanes <= b.cols(); j += lanes) {
    add_steps<T, Rows, Steps>(
        a, p, [&](Index row) HWY_ATTR { return hn::LoadU(d, b.row(row) + j); }, sums + j, sums_stride);
  }
  if (j == b.cols()) return;
  const auto load_rest = [&](Index row) HWY_ATTR {
    HWY_ALIGN T part[lanes] = {};
    std::copy(b.row(row) + j, b.row(row) + b.cols(), part);
    return hn::Load(d, part);
  };
  add_steps<T, Rows, Steps>(a, p, load_rest, sums + j, sums_stride);
}

// sums (Rows, round_up(b.cols(), lanes)) = A B, four rows of B at a time, so that sums are read and written a fourth as often.
template <class T, Index Rows>
HWY_NOINLINE void multiply_rows(MatrixView<const T> a, MatrixView<const T> b, T* sums, Index sums_stride) {
  std::fill_n(sums, Rows * sums_stride, T{0});
  Index p = 0;
  for (; p + 4 <= b.rows(); p += 4) add_rows<T, Rows, 4>(a, b, p, sums, sums_stride);
  for (; p < b.rows(); ++p) add_rows<T, Rows, 1>(a, b, p, sums, sums_stride);
}

// The columns [j0, j0 + cols) of C, passes of kc steps one after the other; `epilogue_at(p0)` says how a pass ends.
template <class T, class EpilogueAt>
HWY_INLINE void thin_columns_of(const Problem<T>& x, Index kc, Index j0, Index cols, const EpilogueAt& epilogue_at) {
  const Index stride = round_up(cols, vector_lanes<T>);
  HWY_ALIGN T sums[thin_rows * thin_columns<T>];
  for (Index p0 = 0; p0 < x.k; p0 += kc) {
    const Index steps = std::min(kc, x.k - p0);
    const auto a = x.a.block(0, p0, x.m, steps);
    const auto b = x.b.block(p0, j0, steps, cols);
    with_constant<thin_rows>(x.m, [&](auto rows) HWY_ATTR { multiply_rows<T, decltype(rows)::value>(a, b, sums, stride); });
    finish_edge(sums, stride, x.c.block(0, j0, x.m, cols), epilogue_at(p0));
  }
}

// The same where B is n x k, for one micro-panel of columns; `panel` has room for it.
template <class T, class EpilogueAt>
HWY_INLINE void thin_panel_of(const Problem<T>& x, Index kc, Index j0, Index cols, T* panel, const EpilogueAt& epilogue_at) {
  for (Index p0 = 0; p0 < x.k; p0 += kc) {
    const Index steps = std::min(kc, x.k - p0);
    pack_transposed<Blocking<T>::nr>(x.b.block(j0, p0, cols, steps), panel);
    macro_kernel(steps, OperandA<T>{x.a.row(0) + p0, x.a.row_stride(), 1}, panel, x.c.block(0, j0, x.m, cols), epilogue_at(p0));
  }
}

// C of x with at most thin_rows rows. No thread waits for another, and how columns are shared does not show in the result.
template <class T, class EpilogueAt>
void multiply_thin(const Problem<T>& x, Index kc, int num_threads, const EpilogueAt& epilogue_at) {
  // As many pieces for each thread, of whole panels.
  const Index share = ceil_div(x.n, static_cast<Index>(num_threads));
  const Index pieces_each = ceil_div(share, thin_columns<T>);
  const Index width = x.b_transposed ? Blocking<T>::nr : std::min(round_up(ceil_div(share, pieces_each), Blocking<T>::nr), thin_columns<T>);
  const Index pieces = ceil_div(x.n, width);
  const Index panel_elements = Blocking<T>::nr * kc;
  T* const panels = x.b_transposed ? workspace<T>(num_threads * panel_elements) : nullptr;
#pragma omp parallel for schedule(static) num_threads(num_threads)
  for (Index piece = 0; piece < pieces; ++piece) {
    const Index j0 = piece * width;
    const Index cols = std::min(width, x.n - j0);
    if (x.b_transposed) {
      thin_panel_of(x, kc, j0, cols, panels + omp_get_thread_num() * panel_elements, epilogue_at);
    } else {
      thin_columns_of(x, kc, j0, cols, epilogue_at);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
