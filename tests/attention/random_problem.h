// Attention problems with random tensors, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "attention/problem.h"

namespace attn {

// Tensors of a shape in memory of their own, contiguous (batch, heads, seq, dim).
template <class T>
struct OwnedProblem {
  AttentionShape shape;
  std::vector<T> q, k, v, o;

  explicit OwnedProblem(const AttentionShape& s)
      : shape(s),
        q(static_cast<std::size_t>(s.batch * s.heads * s.seq_q * s.head_dim)),
        k(static_cast<std::size_t>(s.batch * s.kv_heads * s.seq_k * s.head_dim)),
        v(static_cast<std::size_t>(s.batch * s.kv_heads * s.seq_k * s.head_dim_v)),
        o(static_cast<std::size_t>(s.batch * s.heads * s.seq_q * s.head_dim_v), T{-7}) {}

  AttentionTensors<T> tensors() { return tensors_into(o); }
  AttentionTensors<T> tensors_into(std::vector<T>& output) {
    using In = TensorView<const T>;
    const AttentionShape& s = shape;
    return {In::hnd(q.data(), s.batch, s.heads, s.seq_q, s.head_dim), In::hnd(k.data(), s.batch, s.kv_heads, s.seq_k, s.head_dim),
            In::hnd(v.data(), s.batch, s.kv_heads, s.seq_k, s.head_dim_v),
            TensorView<T>::hnd(output.data(), s.batch, s.heads, s.seq_q, s.head_dim_v)};
  }
};

template <class T>
void fill_normal(std::vector<T>& values, std::uint64_t seed, double deviation) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  for (T& x : values) x = static_cast<T>(normal(random));
}

// q and k with the deviation given (1: ordinary scores; 4: peaked weights; 0.01: flat ones), v with 1.
template <class T>
OwnedProblem<T> random_problem(const AttentionShape& shape, std::uint64_t seed, double deviation = 1) {
  OwnedProblem<T> problem(shape);
  fill_normal(problem.q, 3 * seed, deviation);
  fill_normal(problem.k, 3 * seed + 1, deviation);
  fill_normal(problem.v, 3 * seed + 2, 1);
  return problem;
}

// A mask's memory: (batch, heads, seq_q, keys), each entry there with the probability given.
template <class T>
struct RandomMask {
  std::vector<std::uint8_t> visible;
  std::vector<T> additive;
  Index keys;

  RandomMask(const AttentionShape& shape, Index mask_keys, std::uint64_t seed, double probability) : keys(mask_keys) {
    std::mt19937_64 random(seed);
    std::bernoulli_distribution there(probability);
    std::normal_distribution<double> bias(0, 1);
    const Index count = shape.batch * shape.heads * shape.seq_q * keys;
    for (Index i = 0; i < count; ++i) {
      visible.push_back(there(random) ? 1 : 0);
      additive.push_back(visible.back() != 0 ? static_cast<T>(bias(random)) : -std::numeric_limits<T>::infinity());
    }
  }

  MaskView<T> view(const AttentionShape& shape, bool boolean) const {
    MaskView<T> mask;
    if (boolean) {
      mask.visible = visible.data();
    } else {
      mask.additive = additive.data();
    }
    mask.keys = keys;
    mask.row_stride = keys;
    mask.head_stride = shape.seq_q * keys;
    mask.batch_stride = shape.heads * shape.seq_q * keys;
    return mask;
  }
};

}  // namespace attn
