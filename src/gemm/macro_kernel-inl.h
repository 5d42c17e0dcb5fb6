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

// What a tile brings closer while its sums run, in mr shares. The hardware follows long runs of memory by itself, but these begin anew with
// every tile. Null: nothing to bring.
template <class T>
struct Ahead {
  const T* a;  // the next rows of A: a_step elements of each
  Index a_step;
  const T* b;  // the next panel of B: b_step elements in every share
  Index b_step;
  const T* c;  // the next tile of C, which would else be waited for when it is added to

  HWY_INLINE void prefetch(Index share, Index a_stride, Index c_stride) const {
    if (a != nullptr) prefetch_run(a + share * a_stride, a_step);
    if (b != nullptr) prefetch_run(b + share * b_step, b_step);
    if (c != nullptr) prefetch_run(c + share * c_stride, Blocking<T>::nr);
  }

 private:
  static HWY_INLINE void prefetch_run(const T* from, Index elements) {
    constexpr Index line = static_cast<Index>(cache_line_bytes / sizeof(T));
    for (Index j = 0; j < elements; j += line) hwy::Prefetch(from + j);
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
    for (; row * kc < (first + steps) * Block::mr; ++row) ahead.prefetch(row, a.row_stride, c_stride);
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
class MacroKernel {
 public:
  MacroKernel(Index kc, OperandA<T> a, const T* b_panels, MatrixView<T> c, const Epilogue<T>& epilogue)
      : kc_(kc),
        a_(a),
        b_(b_panels),
        c_(c),
        epilogue_(epilogue),
        panels_(ceil_div(c.cols(), Block::nr)),
        row_tiles_(ceil_div(c.rows(), Block::mr)) {}

  HWY_INLINE void run() const {
    if (panels_ * kc_ * Block::nr * static_cast<Index>(sizeof(T)) <= Block::resident_b_bytes) {
      // All of B stays in the second-level cache, so A passes through only once.
      for (Index i = 0; i < c_.rows(); i += Block::mr) {
        for (Index j = 0; j < c_.cols(); j += Block::nr) tile(i, j, true);
      }
    } else {
      for (Index j = 0; j < c_.cols(); j += Block::nr) {    // loop jr
        for (Index i = 0; i < c_.rows(); i += Block::mr) {  // loop ir
          tile(i, j, false);
        }
      }
    }
  }

 private:
  using Block = Blocking<T>;

  // Tile with its upper left corner at (i, j).
  HWY_INLINE void tile(Index i, Index j, bool a_passes) const {
    const Index rows = std::min(Block::mr, c_.rows() - i);
    const Index cols = std::min(Block::nr, c_.cols() - j);
    const OperandA<T> a{a_.data + i * a_.row_stride, a_.row_stride, 1};
    const T* b = b_ + j * kc_;
    if (rows < Block::mr || cols < Block::nr) {
      partial_tile(kc_, a, b, c_.block(i, j, rows, cols), epilogue_);
    } else {
      full_tile(kc_, a, b, c_.row(i) + j, c_.row_stride(), epilogue_, a_passes ? ahead_across(i, j) : ahead_down(i, j));
    }
  }

  bool whole_rows_at(Index i) const { return i + Block::mr <= c_.rows(); }

  // The next tile lies below, in the same panel; the next panel comes once all rows are through. The first panel meets rows of A that are
  // not in the second-level cache yet.
  HWY_INLINE Ahead<T> ahead_down(Index i, Index j) const {
    const Index b_step = kc_ * Block::nr / (row_tiles_ * Block::mr) + 1;
    const Index next = i + Block::mr;
    const bool reads_a = j == 0 && whole_rows_at(next);
    const bool reads_b = j + Block::nr < c_.cols();
    const bool reads_c = epilogue_.finish != Finish::stream && whole_rows_at(next);
    return {reads_a ? a_.data + next * a_.row_stride : nullptr, kc_, reads_b ? b_ + (j + Block::nr) * kc_ + i * b_step : nullptr, b_step,
            reads_c ? c_.row(next) + j : nullptr};
  }

  // The next tile lies to the right; the next rows of A come once all panels are through.
  HWY_INLINE Ahead<T> ahead_across(Index i, Index j) const {
    const Index a_step = ceil_div(kc_, panels_);
    const Index next = i + Block::mr;
    const bool reads_c = epilogue_.finish != Finish::stream && j + 2 * Block::nr <= c_.cols();
    return {whole_rows_at(next) ? a_.data + next * a_.row_stride + std::min(j / Block::nr * a_step, kc_ - 1) : nullptr, a_step, nullptr, 0,
            reads_c ? c_.row(i) + j + Block::nr : nullptr};
  }

  Index kc_;
  OperandA<T> a_;
  const T* b_;
  MatrixView<T> c_;
  const Epilogue<T>& epilogue_;
  Index panels_;
  Index row_tiles_;
};

template <class T>
HWY_NOINLINE void macro_kernel(Index kc, OperandA<T> a, const T* b_panels, MatrixView<T> c, const Epilogue<T>& epilogue) {
  MacroKernel<T>(kc, a, b_panels, c, epilogue).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
