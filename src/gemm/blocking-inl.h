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

template <class T>
struct Blocking {
  static constexpr Index mr = tile_rows;
  static constexpr Index nr = tile_vectors * vector_lanes<T>;

  // kc: a B micro-panel of kc x NR stays in the first-level cache while the A block passes by.
  static constexpr Index b_panel_bytes = 48 << 10;
  static constexpr Index kc = b_panel_bytes / (nr * static_cast<Index>(sizeof(T)));

  // A block of mc x kc stays in the second-level cache while the B panels pass by.
  static constexpr Index a_block_bytes = 256 << 10;

  // The packed B of kc x nc is read from the last-level cache.
  static constexpr Index b_block_bytes = 8 << 20;
};

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
