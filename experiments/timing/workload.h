// Things to time: an algorithm with its inputs in several buffers and its output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure/blas_library.h"
#include "numpy/generator.h"
#include "timing/problem.h"

namespace attn {

// Inputs that several algorithms of one size share: q (batch, heads, seq_q, head_dim), k (batch, kv_heads, seq_k, head_dim) and
// v (batch, kv_heads, seq_k, head_dim_v), contiguous; for gemm q is A (m, k) and k is B (k, n). Every buffer holds the same numbers in
// memory of its own, so that no call finds what the last one left in the cache.
template <class T>
class InputBuffers {
 public:
  struct Buffer {
    Matrix<T> q, k, v;
  };

  // Draws q, k, v in this order as standard normals, rounded to T.
  InputBuffers(const AttentionShape& shape, int count, Generator& generator);

  const AttentionShape& shape() const { return shape_; }
  int count() const { return static_cast<int>(buffers_.size()); }
  const Buffer& operator[](int buffer) const { return buffers_[static_cast<std::size_t>(buffer)]; }

  // Fingerprint of q, k and v (XXH3, 64 bits, in hexadecimal).
  std::string hash() const;

 private:
  AttentionShape shape_;
  std::vector<Buffer> buffers_;
};

class Workload {
 public:
  virtual ~Workload() = default;

  // Computes the output from the inputs in that buffer.
  virtual void run(int buffer) = 0;

  // What is wrong with the output of the last run; empty where nothing is. Attention is compared with the oracle on a seeded sample of
  // query rows (the first, the last, those around tile edges, and some others), products by Freivalds' test.
  virtual std::string fault() const = 0;

  // Fingerprint of the output.
  virtual std::string output_hash() const = 0;
};

// The workload for `work` on shared inputs; products by `library` where one is given. The inputs outlive it.
// Throws MemoryError where the output does not fit.
template <class T>
std::unique_ptr<Workload> make_workload(Work work, const InputBuffers<T>& inputs, const Modifiers& modifiers, const BlasLibrary* library);

// How many buffers `work` alternates between: two, or for decode as many as exceed four times the last cache. The latter is what a model
// does that visits all its layers' caches before it comes back to the first.
int buffer_count(Work work, const TimingPoint& point);

}  // namespace attn
