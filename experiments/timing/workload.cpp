#include "timing/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "attention/fused.h"
#include "attention/standard.h"
#include "gemm/gemm.h"
#include "machine/threads.h"
#include "measure/machine_facts.h"
#include "report/fingerprint.h"
#include "sweep/draw.h"
#include "timing/attention_fault.h"
#include "verify/product_check.h"

namespace attn {
namespace {

constexpr std::uint64_t check_seed = 20170612;  // of the sample that is checked, not of what is timed

// Every product of queries and keys, or A B, per head: (batch * heads * m, n).
template <class T>
class ProductWorkload : public Workload {
 public:
  ProductWorkload(Work work, const InputBuffers<T>& inputs, const BlasLibrary* library)
      : inputs_(inputs),
        library_(library),
        transposed_(work == Work::scores),
        output_(inputs.shape().batch * inputs.shape().heads * inputs.shape().seq_q, inputs.shape().seq_k) {}

  void run(int buffer) override {
    for (Index head = 0; head < heads(); ++head) multiply(a(buffer, head), b(buffer, head), c(head));
  }

  std::string fault() const override {
    for (Index head = 0; head < heads(); ++head) {
      const MatrixView<const T> found = output_.view().block(head * rows(), 0, rows(), output_.cols());
      const auto wrong = check_product<T>(a(0, head), b(0, head), transposed_, found, check_seed);
      if (wrong) {
        return fmt::format("wrong product: head {}, row {}: sums differ by {:.3g}, allowed {:.3g}", head, wrong->row, wrong->difference,
                           wrong->allowed);
      }
    }
    return {};
  }

  std::string output_hash() const override { return Fingerprint().add(output_).text(); }

 private:
  Index heads() const { return inputs_.shape().batch * inputs_.shape().heads; }
  Index rows() const { return inputs_.shape().seq_q; }

  MatrixView<const T> a(int buffer, Index head) const {
    return inputs_[buffer].q.view().block(head * rows(), 0, rows(), inputs_.shape().head_dim);
  }
  MatrixView<const T> b(int buffer, Index head) const {
    const MatrixView<const T> all = inputs_[buffer].k.view();
    if (!transposed_) return {all.data(), inputs_.shape().head_dim, inputs_.shape().seq_k};
    const Index kv_head = head / inputs_.shape().group();
    return all.block(kv_head * inputs_.shape().seq_k, 0, inputs_.shape().seq_k, all.cols());
  }
  MatrixView<T> c(Index head) { return output_.view().block(head * rows(), 0, rows(), output_.cols()); }

  void multiply(MatrixView<const T> left, MatrixView<const T> right, MatrixView<T> result) const {
    if (library_ != nullptr) {
      library_->template gemm<T>(Transpose::no, transposed_ ? Transpose::yes : Transpose::no, T{1}, left, right, T{0}, result);
    } else if (transposed_) {
      gemm_nt(T{1}, left, right, T{0}, result);
    } else {
      gemm(T{1}, left, right, T{0}, result);
    }
  }

  const InputBuffers<T>& inputs_;
  const BlasLibrary* library_;
  bool transposed_;
  Matrix<T> output_;
};

template <class T>
class AttentionWorkload : public Workload {
 public:
  AttentionWorkload(Work work, const InputBuffers<T>& inputs, const Modifiers& modifiers)
      : inputs_(inputs),
        standard_(work == Work::standard),
        options_(options_of<T>(modifiers, inputs.shape())),
        output_(inputs.shape().batch * inputs.shape().heads * inputs.shape().seq_q, inputs.shape().head_dim_v),
        scores_(1, standard_ ? standard_scores_elements(inputs.shape()) : 0) {}

  void run(int buffer) override {
    if (standard_) {
      StandardOutputs<T> outputs;
      outputs.scores = scores_.data();
      standard_attention<T>(tensors(buffer), options_, outputs);
    } else {
      fused_attention<T>(tensors(buffer), options_);
    }
  }

  std::string fault() const override { return attention_fault(tensors(0), options_); }

  std::string output_hash() const override { return Fingerprint().add(output_).text(); }

 private:
  AttentionTensors<T> tensors(int buffer) const {
    const AttentionShape& s = inputs_.shape();
    const auto& in = inputs_[buffer];
    return {TensorView<const T>::hnd(in.q.data(), s.batch, s.heads, s.seq_q, s.head_dim),
            TensorView<const T>::hnd(in.k.data(), s.batch, s.kv_heads, s.seq_k, s.head_dim),
            TensorView<const T>::hnd(in.v.data(), s.batch, s.kv_heads, s.seq_k, s.head_dim_v),
            TensorView<T>::hnd(const_cast<T*>(output_.data()), s.batch, s.heads, s.seq_q, s.head_dim_v)};
  }

  const InputBuffers<T>& inputs_;
  bool standard_;
  AttentionOptions<T> options_;
  Matrix<T> output_;
  Matrix<T> scores_;  // standard: reused, as the output is
};

}  // namespace

template <class T>
InputBuffers<T>::InputBuffers(const AttentionShape& shape, int count, Generator& generator) : shape_(shape) {
  Buffer first;
  first.q = draw_normals<T>(shape.batch * shape.heads * shape.seq_q, shape.head_dim, generator);
  first.k = draw_normals<T>(shape.batch * shape.kv_heads * shape.seq_k, shape.head_dim, generator);
  first.v = draw_normals<T>(shape.batch * shape.kv_heads * shape.seq_k, shape.head_dim_v, generator);
  buffers_.push_back(std::move(first));
  while (static_cast<int>(buffers_.size()) < count) {
    buffers_.push_back({copy(buffers_[0].q.view()), copy(buffers_[0].k.view()), copy(buffers_[0].v.view())});
  }
}

template <class T>
std::string InputBuffers<T>::hash() const {
  return Fingerprint().add(buffers_[0].q).add(buffers_[0].k).add(buffers_[0].v).text();
}

template <class T>
std::unique_ptr<Workload> make_workload(Work work, const InputBuffers<T>& inputs, const Modifiers& modifiers, const BlasLibrary* library) {
  if (is_product(work)) return std::make_unique<ProductWorkload<T>>(work, inputs, library);
  return std::make_unique<AttentionWorkload<T>>(work, inputs, modifiers);
}

int buffer_count(Work work, const TimingPoint& point) {
  constexpr int least = 2;
  if (work != Work::decode) return least;
  double last_cache = 0;
  for (const CacheFacts& cache : machine_facts().caches) last_cache = std::max(last_cache, static_cast<double>(cache.size_bytes));
  constexpr double most = 4096;
  return std::max(least, static_cast<int>(std::min(most, std::ceil(4 * last_cache / input_bytes_of(work, point)))));
}

template class InputBuffers<float>;
template class InputBuffers<double>;
template std::unique_ptr<Workload> make_workload(Work, const InputBuffers<float>&, const Modifiers&, const BlasLibrary*);
template std::unique_ptr<Workload> make_workload(Work, const InputBuffers<double>&, const Modifiers&, const BlasLibrary*);

}  // namespace attn
