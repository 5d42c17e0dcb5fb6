// Packing for the fused kernel: keys transposed in panels of NR, values in panels of a few vectors (PackedHead in fused_job.h).
#if defined(ATTN_ATTENTION_FUSED_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_FUSED_PACK_INL_H_
#undef ATTN_ATTENTION_FUSED_PACK_INL_H_
#else
#define ATTN_ATTENTION_FUSED_PACK_INL_H_
#endif

#include <algorithm>

#include "attention/finite.h"
#include "attention/fused_job.h"
#include "gemm/blocking-inl.h"
#include "gemm/packing-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// Widest panel of values, in vectors: with 32 registers 6 rows x 4 vectors of accumulators, one panel at head_dim_v = 64 in float32.
inline constexpr Index widest_panel = tile_vectors == 3 ? 4 : tile_vectors;

// Calls body(first column, vectors) for the panels of the output's columns: as few as possible, and of even width, since narrow ones
// broadcast more for each multiply-add.
template <class T, class Body>
HWY_INLINE void for_each_value_panel(Index head_dim_v, Body&& body) {
  constexpr Index lanes = vector_lanes<T>;
  const Index vectors = (head_dim_v + lanes - 1) / lanes;
  const Index panels = (vectors + widest_panel - 1) / widest_panel;
  for (Index p = 0; p < panels; ++p) {
    const Index first = vectors * p / panels;
    body(first * lanes, vectors * (p + 1) / panels - first);
  }
}

// Rows [first_key, first_key + keys) of k, at most tile_keys, to `packed`.
template <class T>
HWY_NOINLINE void pack_key_tile(MatrixView<const T> k, Index first_key, Index keys, T* packed) {
  constexpr Index nr = Blocking<T>::nr;
  for (Index j = 0; j < keys; j += nr) {
    T* panel = packed + j * k.cols();
    if (keys - j < nr) std::fill_n(panel, nr * k.cols(), T{0});
    pack_transposed<nr>(k.block(first_key + j, 0, std::min(nr, keys - j), k.cols()), panel);
  }
}

// The same rows of v to `packed`; returns whether all are finite. Missing columns are zeros, missing keys are not written.
template <class T>
HWY_NOINLINE bool pack_value_tile(MatrixView<const T> v, Index first_key, Index keys, T* packed) {
  for_each_value_panel<T>(v.cols(), [&](Index column, Index vectors) {
    const Index width = vectors * vector_lanes<T>;
    const Index columns = std::min(width, v.cols() - column);
    T* to = packed + tile_keys<T> * column;
    for (Index j = 0; j < keys; ++j) {
      T* end = std::copy_n(v.row(first_key + j) + column, columns, to + j * width);
      std::fill(end, to + (j + 1) * width, T{0});
    }
  });
  bool finite = true;
  for (Index j = 0; j < keys; ++j) finite = finite && !any_non_finite(v.row(first_key + j), v.cols());
  return finite;
}

// Tile `tile` of a head.
template <class T>
void pack_tile(const FusedJob<T>& job, const HeadRows& head, Index tile, const PackedHead<T>& packed) {
  const Index first = tile * tile_keys<T>;
  const Index keys = std::min(tile_keys<T>, job.shape.seq_k - first);
  pack_key_tile(job.tensors.k.head(head.b, head.kv_head), first, keys, packed.keys + first * job.shape.head_dim);
  packed.finite[tile] =
      pack_value_tile(job.tensors.v.head(head.b, head.kv_head), first, keys, packed.values + first * padded_dim_v<T>(job.shape));
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
