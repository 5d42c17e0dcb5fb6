// Fused attention, by tiles of queries and keys.
//
// The plain method (standard.h) writes S = Q K^T, reads it for the softmax, writes P and reads it for P V: with n = seq_q = seq_k about
// 4 n^2 elements pass through memory, beside 4 n d of the tensors and 4 n^2 d floating-point operations (d = head_dim = head_dim_v). In
// float32 with n = 4096 and d = 64 those are 268 MB for 4.3 GFLOP, as much time for the memory as for the arithmetic on most machines, and
// n^2 elements of memory. Neither is needed: a row's softmax can be corrected as its scores come in (fused_softmax-inl.h has the formula),
// so a block of queries holds its maximum m, sum l and output o, and reads K and V tile by tile:
//
//   for each block of queries (at most block_groups x group_rows rows)       a task; q, o, m, l in the second-level cache
//     for each tile of keys that any of its rows sees (tile_keys keys)       K and V of the tile in the second-level cache
//       for each group of group_rows rows                                    S in the first-level cache
//         1. S = Q K^T                     register tiles of MR x NR, as in gemm
//         2. softcap, mask, -inf outside   only where there are such
//         3. m, l; S becomes P             2^(s - m); log2(e) is folded into Q with the scale
//         4. o = diag(2^(m_old - m)) o + P V
//     o / l
//
// What passes through memory is Q, K, V and O once, and K and V again per block from whichever cache holds them: n / 96 times 2 n d
// elements, 96 times less than the arithmetic. Tiles that no row of a block sees are not touched; of a tile that is seen in part only those
// panels of NR keys are multiplied that some row of the group sees.
//
// A problem of few queries (decoding) has no arithmetic to speak of: K and V are read where they lie, once for all heads of a group, and
// the keys are split among the tasks; each hands on (o, m, l), and those of one row are merged like tiles.
//
// Dao, Fu, Ermon, Rudra and Re, "FlashAttention", 2022 (tiles); Dao, "FlashAttention-2", 2023 (one division at the end, queries in
// parallel); Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018 (the correction).
#include "attention/fused.h"

#include <algorithm>

#include "attention/fused_job.h"
#include "attention/fused_plan.h"
#include "machine/parallel.h"
#include "machine/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/fused.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "attention/fused_finish-inl.h"
#include "attention/fused_kernel-inl.h"
#include "attention/fused_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

template <class T>
void run_task(const FusedJob<T>& job, const FusedTask& task, const PackedHead<T>* packed) {
  FusedKernel<T>(job, task, packed).run();
}

// What is dispatched to a target, for each type.
void pack_f32(const FusedJob<float>& job, const HeadRows& head, Index tile, const PackedHead<float>& to) { pack_tile(job, head, tile, to); }
void pack_f64(const FusedJob<double>& job, const HeadRows& head, Index tile, const PackedHead<double>& to) {
  pack_tile(job, head, tile, to);
}
void run_f32(const FusedJob<float>& job, const FusedTask& task, const PackedHead<float>* packed) { run_task(job, task, packed); }
void run_f64(const FusedJob<double>& job, const FusedTask& task, const PackedHead<double>* packed) { run_task(job, task, packed); }
void merge_f32(const FusedJob<float>& job, const FusedMerge& merge, Index row) { merge_row(job, merge, row); }
void merge_f64(const FusedJob<double>& job, const FusedMerge& merge, Index row) { merge_row(job, merge, row); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(pack_f32);
HWY_EXPORT(pack_f64);
HWY_EXPORT(run_f32);
HWY_EXPORT(run_f64);
HWY_EXPORT(merge_f32);
HWY_EXPORT(merge_f64);

void pack(const FusedJob<float>& job, const HeadRows& head, Index tile, const PackedHead<float>& to) {
  HWY_DYNAMIC_DISPATCH(pack_f32)(job, head, tile, to);
}
void pack(const FusedJob<double>& job, const HeadRows& head, Index tile, const PackedHead<double>& to) {
  HWY_DYNAMIC_DISPATCH(pack_f64)(job, head, tile, to);
}
void run(const FusedJob<float>& job, const FusedTask& task, const PackedHead<float>* packed) {
  HWY_DYNAMIC_DISPATCH(run_f32)(job, task, packed);
}
void run(const FusedJob<double>& job, const FusedTask& task, const PackedHead<double>* packed) {
  HWY_DYNAMIC_DISPATCH(run_f64)(job, task, packed);
}
void merge_one(const FusedJob<float>& job, const FusedMerge& merge, Index row) { HWY_DYNAMIC_DISPATCH(merge_f32)(job, merge, row); }
void merge_one(const FusedJob<double>& job, const FusedMerge& merge, Index row) { HWY_DYNAMIC_DISPATCH(merge_f64)(job, merge, row); }

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

// Memory of the packed tiles of a wave's heads, kept from call to call while it is small: fresh memory has to be faulted in page by page.
template <class T>
class PackedHeads {
 public:
  PackedHeads(const AttentionShape& shape, Index heads) : tiles_(ceil_div(shape.seq_k, tile_keys<T>)) {
    constexpr std::size_t kept_bytes = std::size_t{16} << 20;
    thread_local Matrix<T> kept;
    const Index key_elements = tiles_ * tile_keys<T> * shape.head_dim;
    const Index value_elements = tiles_ * tile_keys<T> * padded_dim_v<T>(shape);
    if (kept.size() < heads * (key_elements + value_elements)) {
      Matrix<T> fresh(heads, key_elements + value_elements);
      (fresh.bytes() <= kept_bytes ? kept : own_) = std::move(fresh);
    }
    T* next = own_.size() > 0 ? own_.data() : kept.data();
    finite_.resize(static_cast<std::size_t>(heads * tiles_));
    for (Index head = 0; head < heads; ++head) {
      heads_.push_back({next, next + key_elements, finite_.data() + head * tiles_});
      next += key_elements + value_elements;
    }
  }

  Index tiles() const { return tiles_; }
  const PackedHead<T>& operator[](Index head) const { return heads_[static_cast<std::size_t>(head)]; }

 private:
  Index tiles_;
  Matrix<T> own_;
  std::vector<std::uint8_t> finite_;
  std::vector<PackedHead<T>> heads_;
};

// The problem in the kernels' terms.
template <class T>
FusedJob<T> make_job(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, const AttentionShape& shape, T* lse) {
  constexpr double log2_e = 1.44269504088896340736;
  const bool natural = options.softcap > 0 || options.mask.additive != nullptr;
  const double query_scale = softmax_scale_of(shape, options) * (natural ? 1 : log2_e);
  return {tensors, options, shape, plan_fused<T>(shape), static_cast<T>(query_scale), natural, lse, nullptr};
}

// Packs the wave's heads where blocks share them, runs its tasks, merges what was split.
template <class T>
void run_wave(FusedJob<T>& job, const FusedWave& wave) {
  const auto size = [](const auto& items) { return static_cast<Index>(items.size()); };
  const bool shared = job.plan.access == KeyAccess::packed_once;
  const PackedHeads<T> packed(job.shape, shared ? size(wave.heads) : 0);
  if (shared) {
    parallel_for(size(wave.heads) * packed.tiles(), threads(), [&](Index i) {
      const Index head = i / packed.tiles();
      pack(job, wave.heads[static_cast<std::size_t>(head)], i % packed.tiles(), packed[head]);
    });
  }
  Matrix<T> partials(wave.partials, job.plan.block_rows * job.partial_row_elements());
  job.partials = partials.data();
  parallel_for(size(wave.tasks), threads(), [&](Index i) {
    const FusedTask& task = wave.tasks[static_cast<std::size_t>(i)];
    run(job, task, shared ? &packed[task.head_number] : nullptr);
  });
  parallel_for(size(wave.merges), threads(), [&](Index i) {
    const FusedMerge& merge = wave.merges[static_cast<std::size_t>(i)];
    for (Index row = 0; row < merge.rows; ++row) merge_one(job, merge, row);
  });
}

}  // namespace

template <class T>
void fused_attention(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, T* lse) {
  const AttentionShape shape = shape_of(tensors);
  check_options(shape, options);
  FusedJob<T> job = make_job(tensors, options, shape, lse);
  const Index heads = job.plan.rows_per_head > 0 ? shape.batch * shape.kv_heads : 0;
  for (Index first = 0; first < heads; first += job.plan.heads_per_wave) {
    run_wave(job, plan_wave(job.plan, shape, options, first, std::min(job.plan.heads_per_wave, heads - first)));
  }
}

template void fused_attention(const AttentionTensors<float>&, const AttentionOptions<float>&, float*);
template void fused_attention(const AttentionTensors<double>&, const AttentionOptions<double>&, double*);

}  // namespace attn
#endif  // HWY_ONCE
