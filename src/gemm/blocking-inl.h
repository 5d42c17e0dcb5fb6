// Sizes of the blocks that gemm works in: what fills the registers and each level of cache.
//
// Sizes are given in bytes where they fit a cache, so that they hold for both types.
// No include guard but Highway's: the register tile differs by target.
#if defined(ATTN_GEMM_BLOCKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_GEMM_BLOCKING_INL_H_
#undef ATTN_GEMM_BLOCKING_INL_H_
#else
#define ATTN_GEMM_BLOCKING_INL_H_
#endif

#include "gemm/micro_kernel-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// The register tile, MR rows x NR = vectors * lanes columns. Multiply-adds in flight must cover their latency (4 cycles x 2 units = 8), and
// the loads per step (MR + vectors) must stay below the multiply-adds, as there are two load ports for two units.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
// 24 accumulators, 3 vectors of B and a broadcast of A: 28 of 32 registers; 11 loads for 24 multiply-adds. On AVX3 a tile's row is three
// whole cache lines.
inline constexpr Index tile_rows = 8;
inline constexpr Index tile_vectors = 3;
#elif HWY_TARGET == HWY_AVX2
// 12 accumulators, 2 vectors of B and a broadcast of A: 15 of 16 registers; 8 loads for 12. A tile's row is one whole cache line (4 x 3
// has as many, but leaves half lines to a later store).
inline constexpr Index tile_rows = 6;
inline constexpr Index tile_vectors = 2;
#else
// Without fused multiply-add a product needs a register too: 8 accumulators, 2 vectors of B, a broadcast and a product: 12 of 16.
inline constexpr Index tile_rows = 4;
inline constexpr Index tile_vectors = 2;
#endif

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index round_up(Index a, Index unit) { return ceil_div(a, unit) * unit; }

template <class T>
struct Blocking {
  static constexpr Index mr = tile_rows;
  static constexpr Index nr = tile_vectors * vector_lanes<T>;

  // Depth of one pass. Every pass reads and writes all of C once, so it must be long: 384 steps of 24 multiply-adds take 4608 cycles, a
  // tile's 1.5 KiB of C (AVX3) a twentieth of that at worst. On AVX2 a B micro-panel of kc x NR is then 24 KiB (float64) or 48 KiB, the
  // first from the first-level cache; on AVX3 72 or 144 KiB, from the second level: 192 bytes in 12 cycles, a third of what that delivers.
  // On AMD Zen 4, 30 November 2026, a third more or less changes gemm's speed by less than 1 %.
  static constexpr Index kc = static_cast<Index>(3072 / sizeof(T));

  // An A block of mc x kc stays in the second-level cache (1 MiB or more on machines with AVX3 or of the last years) beside two B panels
  // and the part of C that it meets; 256 to 768 KiB do not differ by more than 1 % there.
  static constexpr Index a_block_bytes = 512 << 10;

  // Panels of B that together take no more stay in the second-level cache beside what passes through it.
  static constexpr Index resident_b_bytes = 384 << 10;

  // Rows of A packed at a time, read from the last-level cache.
  static constexpr Index packed_a_bytes = 4 << 20;

  // The packed B of kc x nc is read from the last-level cache.
  static constexpr Index b_block_bytes = 8 << 20;
};

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
