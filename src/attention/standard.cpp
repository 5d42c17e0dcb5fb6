#include "attention/standard.h"

#include <algorithm>
#include <vector>

#include "attention/finite.h"
#include "attention/score_rows.h"
#include "attention/softmax.h"
#include "attention/visibility.h"
#include "gemm/gemm.h"
#include "machine/parallel.h"
#include "machine/threads.h"

namespace attn {
namespace {

// A problem and what is wanted of it, fixed for all heads.
template <class T>
struct Job {
  const AttentionTensors<T>& tensors;
  const AttentionOptions<T>& options;
  const StandardOutputs<T>& outputs;
  AttentionShape shape;
};

// Row i of the (batch, heads, seq_q, seq_k) array `stage`, or null.
template <class T>
T* stage_row(T* stage, const AttentionShape& shape, Index b, Index h, Index i) {
  return stage == nullptr ? nullptr : stage + ((b * shape.heads + h) * shape.seq_q + i) * shape.seq_k;
}

template <class T>
void copy_row(const T* row, Index cols, T* to) {
  if (to != nullptr && to != row) std::copy_n(row, cols, to);
}

// A row of raw scores to weights, in place, copying out the stages that are wanted. Only visible keys take part in the softmax. `next` is
// the next row or null.
template <class T>
void finish_row(const Job<T>& job, Index b, Index h, Index i, T* row, const T* next) {
  const auto& [tensors, options, outputs, shape] = job;
  copy_row(row, shape.seq_k, stage_row(outputs.raw, shape, b, h, i));
  if (options.softcap > 0) cap_scores(row, shape.seq_k, static_cast<T>(options.softcap));
  copy_row(row, shape.seq_k, stage_row(outputs.capped, shape, b, h, i));
  const KeyRange range = visible_range(shape, options, b, i);
  if (options.mask.exists() || range.size() < shape.seq_k) mask_scores(row, shape, options, b, h, i);
  copy_row(row, shape.seq_k, stage_row(outputs.masked, shape, b, h, i));
  const T lse = softmax_row(row + range.first, row + range.first, range.size(), next == nullptr ? nullptr : next + range.first);
  std::fill(row, row + range.first, T{0});
  std::fill(row + range.last, row + shape.seq_k, T{0});
  if (outputs.lse != nullptr) outputs.lse[(b * shape.heads + h) * shape.seq_q + i] = lse;
}

// Keys whose value holds a NaN or an infinity.
template <class T>
std::vector<Index> non_finite_keys(MatrixView<const T> v) {
  std::vector<Index> keys;
  for (Index j = 0; j < v.rows(); ++j) {
    if (any_non_finite(v.row(j), v.cols())) keys.push_back(j);
  }
  return keys;
}

// O = P V where V is finite in all but `keys`: those rows are added to the queries that see them and to no others, because the weight 0 of
// a masked key would make NaN of them.
template <class T>
void weigh_values(const Job<T>& job, Index b, Index h, MatrixView<const T> p, MatrixView<const T> v, const std::vector<Index>& keys) {
  const MatrixView<T> o = job.tensors.o.head(b, h);
  if (keys.empty()) return gemm(T{1}, p, v, T{0}, o);
  Matrix<T> finite = copy(v);
  for (const Index j : keys) std::fill_n(finite.view().row(j), v.cols(), T{0});
  gemm(T{1}, p, finite.view(), T{0}, o);
  for (Index i = 0; i < o.rows(); ++i) {
    for (const Index j : keys) {
      if (!is_visible(job.shape, job.options, b, h, i, j)) continue;
      for (Index x = 0; x < o.cols(); ++x) o(i, x) += p(i, j) * v(j, x);
    }
  }
}

// One head, its scores in `s` (seq_q, seq_k).
template <class T>
void attend(const Job<T>& job, Index b, Index h, MatrixView<T> s) {
  const Index kv_head = job.shape.kv_head_of(h);
  gemm_nt(static_cast<T>(softmax_scale_of(job.shape, job.options)), job.tensors.q.head(b, h), job.tensors.k.head(b, kv_head), T{0}, s);
  // About 2^15 scores at a time: long enough to hide the hand-out, short enough to end together.
  const Index rows = std::max<Index>(1, 32768 / std::max<Index>(1, s.cols()));
  parallel_for((s.rows() + rows - 1) / rows, threads(), [&](Index part) {
    const Index last = std::min(s.rows(), (part + 1) * rows);
    for (Index i = part * rows; i < last; ++i) finish_row(job, b, h, i, s.row(i), i + 1 < last ? s.row(i + 1) : nullptr);
  });
  const MatrixView<const T> v = job.tensors.v.head(b, kv_head);
  weigh_values<T>(job, b, h, s, v, can_mask(job.options) ? non_finite_keys(v) : std::vector<Index>());
}

}  // namespace

Index standard_scores_elements(const AttentionShape& shape) {
  constexpr double small_head_pairs = 1 << 18;
  return static_cast<double>(shape.seq_q) * static_cast<double>(shape.seq_k) < small_head_pairs ? 0 : shape.seq_q * shape.seq_k;
}

template <class T>
void standard_attention(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, const StandardOutputs<T>& outputs) {
  const AttentionShape shape = shape_of(tensors);
  check_options(shape, options);
  const Job<T> job{tensors, options, outputs, shape};
  // Small heads go to one thread each; large ones to all threads, one head after the other, in one matrix of scores.
  const bool small = standard_scores_elements(shape) == 0;
  Matrix<T> shared;
  T* work = outputs.scores;
  if (!small && outputs.weights == nullptr && work == nullptr) {
    shared = Matrix<T>(shape.seq_q, shape.seq_k);
    work = shared.data();
  }
  parallel_for(shape.batch * shape.heads, small ? threads() : 1, [&](Index head) {
    const Index b = head / shape.heads;
    const Index h = head % shape.heads;
    Matrix<T> own;
    if (small && outputs.weights == nullptr) own = Matrix<T>(shape.seq_q, shape.seq_k);
    T* const kept = stage_row(outputs.weights, shape, b, h, 0);
    T* const scores = kept != nullptr ? kept : small ? own.data() : work;
    attend(job, b, h, MatrixView<T>(scores, shape.seq_q, shape.seq_k));
  });
}

template <class T>
HeadAttention<T> standard_attention(MatrixView<const T> q, MatrixView<const T> k, MatrixView<const T> v,
                                    const AttentionOptions<T>& options) {
  HeadAttention<T> result{Matrix<T>(q.rows(), v.cols()), Matrix<T>(q.rows(), k.rows())};
  using View = TensorView<const T>;
  StandardOutputs<T> outputs;
  outputs.weights = result.weights.data();
  standard_attention<T>({View::from_matrix(q), View::from_matrix(k), View::from_matrix(v), TensorView<T>::from_matrix(result.output)},
                        options, outputs);
  return result;
}

template void standard_attention(const AttentionTensors<float>&, const AttentionOptions<float>&, const StandardOutputs<float>&);
template void standard_attention(const AttentionTensors<double>&, const AttentionOptions<double>&, const StandardOutputs<double>&);
template HeadAttention<float> standard_attention(MatrixView<const float>, MatrixView<const float>, MatrixView<const float>,
                                                 const AttentionOptions<float>&);
template HeadAttention<double> standard_attention(MatrixView<const double>, MatrixView<const double>, MatrixView<const double>,
                                                  const AttentionOptions<double>&);

}  // namespace attn
