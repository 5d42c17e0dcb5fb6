// gemm: the five loops around the micro-kernel, and their distribution over threads.
//
//   for jc in [0, n) by NC                    B block  kc x NC  packed, read from the last-level cache
//     for pc in [0, k) by KC                  depth of one pass; the first pass applies beta, later ones add
//       for ic in [0, m) by the rows of A packed at a time
//         tiles of C, taken by threads (shared_loop.h): A block  mc x kc  in the second-level cache
//           for jr by NR                      B micro-panel  kc x NR  in the first- or second-level cache
//             for ir by MR                    micro-kernel: MR x NR of C in registers
//
// A product with few rows, unless it is larger than the caches, takes none of them (thin-inl.h).
//
// Goto and van de Geijn 2008; Van Zee and van de Geijn 2015 (see micro_kernel-inl.h).
#include "gemm/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "gemm/epilogue.h"
#include "gemm/problem.h"
#include "gemm/workspace.h"
#include "machine/error.h"
#include "machine/parallel.h"
#include "machine/shared_loop.h"
#include "machine/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/gemm.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "gemm/blocking-inl.h"
#include "gemm/macro_kernel-inl.h"
#include "gemm/packing-inl.h"
#include "gemm/thin-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// How a problem is cut: chosen by its size alone.
template <class T>
struct Plan {
  Index kc;
  Index nc;         // columns of B packed at a time
  Index a_rows;     // rows of A packed at a time
  Index tile_rows;  // tiles of C that threads take
  Index tile_cols;
  bool pack_a;
  bool stream;         // C past the caches
  bool stream_packed;  // packed B past the caches
};

// The size of equal parts of `whole`, as few as do not exceed `most`, in whole units; at least one unit.
constexpr Index even_share(Index whole, Index most, Index unit) {
  const Index units = ceil_div(whole, unit);
  const Index most_units = std::max<Index>(1, most / unit);
  return ceil_div(units, ceil_div(units, most_units)) * unit;
}

template <class T>
Plan<T> make_plan(const Problem<T>& x) {
  using Block = Blocking<T>;
  constexpr Index size = sizeof(T);
  Plan<T> plan{};
  const Index passes = std::max<Index>(1, ceil_div(x.k, Block::kc));
  plan.kc = ceil_div(x.k, passes);
  plan.nc = even_share(x.n, Block::b_block_bytes / (plan.kc * size), Block::nr);
  plan.tile_rows = even_share(x.m, Block::a_block_bytes / (plan.kc * size), Block::mr);
  plan.tile_cols = plan.nc;
  plan.a_rows = even_share(x.m, Block::packed_a_bytes / (plan.kc * size), plan.tile_rows);
  // Threads wait for each other after every a_rows x nc of C: tiles enough that they end together, as long as each is worth taking. The
  // longer side is halved: what a tile must fetch from the last-level cache for its work is least for squares.
  const auto too_few = [&] {
    const Index tiles = ceil_div(plan.a_rows, plan.tile_rows) * ceil_div(plan.nc, plan.tile_cols);
    const Index work = plan.tile_rows * plan.tile_cols * plan.kc;
    return (tiles < 16 && work > (1 << 16)) || (tiles < 64 && work > (1 << 22));
  };
  while (too_few()) {
    if (plan.tile_cols >= plan.tile_rows && plan.tile_cols > Block::nr) {
      plan.tile_cols = round_up(plan.tile_cols / 2, Block::nr);
    } else if (plan.tile_rows > Block::mr) {
      plan.tile_rows = round_up(plan.tile_rows / 2, Block::mr);
    } else {
      break;
    }
  }
  // In place, A's rows may lie on as many pages and in the same cache sets; copying them pays once they are read by some panels.
  plan.pack_a = x.n > 4 * Block::nr && (passes > 1 || x.a.row_stride() > 2 * x.k);
  const Index vector_bytes = vector_lanes<T> * size;
  plan.stream = passes == 1 && x.beta == T{0} && x.m * x.n * size > (32 << 20) && (Block::nr * size) % 64 == 0 &&
                reinterpret_cast<std::uintptr_t>(x.c.data()) % vector_bytes == 0 && x.c.row_stride() * size % vector_bytes == 0;
  // Large blocks of B that are read several times are written past the caches where they are not transposed: what they replace is still
  // held by other cores, and to take its lines from them one by one takes longer than to write memory. (2048 x 2048 float64 on two cores of
  // AMD Zen 4 that share no cache, 30 November 2026: packing B takes 7 of 180 ms, where they share one 1.7 of 160.)
  plan.stream_packed = x.m >= 128 && plan.nc * plan.kc * size > (1 << 20);
  return plan;
}

template <class T>
HWY_NOINLINE void pack_b_panel(const Problem<T>& x, Index p0, Index kc, Index j0, Index cols, bool past_caches, T* panel) {
  constexpr Index nr = Blocking<T>::nr;
  if (x.b_transposed) {
    pack_transposed<nr>(x.b.block(j0, p0, cols, kc), panel);
  } else {
    pack_columns<nr>(x.b.block(p0, j0, kc, cols), panel, past_caches);
  }
}

template <class T>
void multiply(const Problem<T>& x, int num_threads) {
  using Block = Blocking<T>;
  const Plan<T> plan = make_plan(x);
  const auto epilogue_at = [&](Index p0) {
    if (p0 > 0) return Epilogue<T>{Finish::add, x.alpha, x.beta};
    return Epilogue<T>{x.beta == T{0} ? (plan.stream ? Finish::stream : Finish::store) : Finish::update, x.alpha, x.beta};
  };
  if (x.m <= thin_rows && !plan.stream) return multiply_thin(x, plan.kc, num_threads, epilogue_at);
  const Index b_elements = plan.nc * plan.kc;
  const Index a_elements = plan.pack_a ? std::min(x.m, plan.a_rows) * packed_row_stride<T>(plan.kc) : 0;
  T* const b_packed = workspace<T>(round_up(b_elements, 64) + a_elements);
  const Index a_stride = plan.pack_a ? packed_row_stride<T>(plan.kc) : x.a.row_stride();
  T* const a_packed = b_packed + round_up(b_elements, 64);
  const bool stream_packed = plan.stream_packed && num_threads > 1;

  SharedLoop shared(num_threads);
#pragma omp parallel num_threads(num_threads)
  {
    std::int64_t loops = 0;
    const auto share_out = [&](Index count, auto&& body) { shared.run(count, loops++, body); };
    for (Index j0 = 0; j0 < x.n; j0 += plan.nc) {  // loop jc
      const Index nc = std::min(plan.nc, x.n - j0);
      for (Index p0 = 0; p0 < x.k; p0 += plan.kc) {  // loop pc
        const Index kc = std::min(plan.kc, x.k - p0);
        const Epilogue<T> epilogue = epilogue_at(p0);
        share_out(ceil_div(nc, Block::nr), [&](Index panel) {
          const Index j = panel * Block::nr;
          pack_b_panel(x, p0, kc, j0 + j, std::min(Block::nr, nc - j), stream_packed, b_packed + j * kc);
          hwy::FlushStream();
        });

        for (Index i0 = 0; i0 < x.m; i0 += plan.a_rows) {  // loop ic
          const Index mc = std::min(plan.a_rows, x.m - i0);
          const Index tiles_down = ceil_div(mc, plan.tile_rows);
          const Index tiles_across = ceil_div(nc, plan.tile_cols);
          if (plan.pack_a) {
            share_out(ceil_div(mc, Block::mr), [&](Index part) {
              const Index i = part * Block::mr;
              pack_rows(x.a.block(i0 + i, p0, std::min(Block::mr, mc - i), kc), a_packed + i * a_stride, a_stride);
            });
          }
          share_out(tiles_down * tiles_across, [&](Index tile) {
            const Index i = tile / tiles_across * plan.tile_rows;
            const Index j = tile % tiles_across * plan.tile_cols;
            const T* a_data = plan.pack_a ? a_packed + i * a_stride : x.a.row(i0 + i) + p0;
            macro_kernel(kc, OperandA<T>{a_data, a_stride, 1}, b_packed + j * kc,
                         x.c.block(i0 + i, j0 + j, std::min(plan.tile_rows, mc - i), std::min(plan.tile_cols, nc - j)), epilogue);
          });
        }
      }
    }
    hwy::FlushStream();
  }
}

void multiply_f32(const Problem<float>& x, int num_threads) { multiply(x, num_threads); }
void multiply_f64(const Problem<double>& x, int num_threads) { multiply(x, num_threads); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

void dispatch(const Problem<float>& x, int num_threads) { HWY_DYNAMIC_DISPATCH(multiply_f32)(x, num_threads); }
void dispatch(const Problem<double>& x, int num_threads) { HWY_DYNAMIC_DISPATCH(multiply_f64)(x, num_threads); }

// Below this many multiply-adds waking threads takes longer than the work.
constexpr double serial_limit = 1 << 18;

// A result of at most this many elements is too few tiles for threads to share; if k is long, they share it in chunks instead.
constexpr Index few_elements = 1024;
constexpr Index chunk_of_k = 8192;

// Products over fixed chunks of k, summed in their order: the same for any number of threads.
template <class T>
void multiply_in_chunks(const Problem<T>& x) {
  const Index chunks = (x.k + chunk_of_k - 1) / chunk_of_k;
  Matrix<T> parts(chunks * x.m, x.n);
  parallel_for(chunks, threads(), [&](Index chunk) {
    const Index first = chunk * chunk_of_k;
    const Index steps = std::min(chunk_of_k, x.k - first);
    const auto b = x.b_transposed ? x.b.block(0, first, x.n, steps) : x.b.block(first, 0, steps, x.n);
    const auto c = parts.view().block(chunk * x.m, 0, x.m, x.n);
    dispatch(Problem<T>{x.m, x.n, steps, T{1}, T{0}, x.a.block(0, first, x.m, steps), b, x.b_transposed, c}, 1);
  });
  for (Index i = 0; i < x.m; ++i) {
    for (Index j = 0; j < x.n; ++j) {
      T sum = 0;
      for (Index chunk = 0; chunk < chunks; ++chunk) sum += parts(chunk * x.m + i, j);
      x.c(i, j) = x.beta == T{0} ? x.alpha * sum : x.alpha * sum + x.beta * x.c(i, j);
    }
  }
}

void check_shape(std::string_view what, Index expected, Index found) {
  if (expected != found) throw UsageError(fmt::format("gemm: {}: expected {}, found {}", what, expected, found));
}

template <class T>
void scale(T beta, MatrixView<T> c) {
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.cols(); ++j) c(i, j) = beta == T{0} ? T{0} : beta * c(i, j);
  }
}

template <class T>
void run(const Problem<T>& x) {
  check_shape("inner size of B", x.k, x.b_transposed ? x.b.cols() : x.b.rows());
  check_shape("rows of C", x.m, x.c.rows());
  check_shape("columns of C", x.n, x.c.cols());
  if (x.m == 0 || x.n == 0) return;
  if (x.k == 0 || x.alpha == T{0}) return scale(x.beta, x.c);
  if (x.m <= few_elements / x.n && x.k >= 2 * chunk_of_k) return multiply_in_chunks(x);
  const double work = static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
  dispatch(x, work < serial_limit ? 1 : threads());
}

template <class T>
Problem<T> make_problem(T alpha, MatrixView<const T> a, MatrixView<const T> b, bool b_transposed, T beta, MatrixView<T> c) {
  return {a.rows(), b_transposed ? b.rows() : b.cols(), a.cols(), alpha, beta, a, b, b_transposed, c};
}

}  // namespace

void gemm(float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta, MatrixView<float> c) {
  run(make_problem(alpha, a, b, false, beta, c));
}

void gemm(double alpha, MatrixView<const double> a, MatrixView<const double> b, double beta, MatrixView<double> c) {
  run(make_problem(alpha, a, b, false, beta, c));
}

void gemm_nt(float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta, MatrixView<float> c) {
  run(make_problem(alpha, a, b, true, beta, c));
}

void gemm_nt(double alpha, MatrixView<const double> a, MatrixView<const double> b, double beta, MatrixView<double> c) {
  run(make_problem(alpha, a, b, true, beta, c));
}

}  // namespace attn
#endif  // HWY_ONCE
