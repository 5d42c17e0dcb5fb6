// What one row of a timing sweep computes: sizes, type and modifiers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.h"

namespace attn {

enum class Work { scores, standard, fused, decode, gemm };

// Throws UsageError, naming the known ones, for any other word.
Work parse_work(std::string_view name);
std::string_view name_of(Work work);

// What a work has besides its type and width d: a number of keys of its own (decode's n is that), values, heads and batches. Scores are
// the products of all heads.
constexpr bool is_product(Work work) { return work == Work::scores || work == Work::gemm; }
constexpr bool has_n_k(Work work) { return work != Work::decode; }
constexpr bool has_values(Work work) { return !is_product(work); }
constexpr bool has_heads(Work work) { return work != Work::gemm; }

enum class Precision { f32, f64 };

std::string_view name_of(Precision precision);
std::size_t bytes_of(Precision precision);

// How attention's scores are modified; the same for all rows of a sweep.
struct Modifiers {
  bool causal = false;
  Index window_left = unlimited;
  Index window_right = unlimited;
  double softcap = 0;

  bool any() const { return causal || window_left != unlimited || window_right != unlimited || softcap > 0; }
};

// Products modify no scores: none for scores and gemm, the given ones for attention.
Modifiers applied_modifiers(Work work, const Modifiers& given);

// One setting of the axes. gemm multiplies (n x gemm_k) by (gemm_k x n_k). Decode has one query and n keys.
struct TimingPoint {
  Index n = 0;
  Index n_k = 0;
  Index d = 0;
  Index d_v = 0;
  Index gemm_k = 0;
  Index heads = 1;
  Index kv_heads = 1;
  Index batch = 1;
  Precision precision = Precision::f64;
};

// The attention problem of `work` at a point; scores have no values (head_dim_v 0).
AttentionShape shape_of(Work work, const TimingPoint& point);

// The kernel's options for the modifiers. Causal and window offsets align the last query with the last key.
template <class T>
AttentionOptions<T> options_of(const Modifiers& modifiers, const AttentionShape& shape);

// Multiplications and additions. Attention counts 2 (d + d_v) for each pair of a query with a key that it sees, and nothing for the
// softmax; products count 2 m n k.
double flops_of(Work work, const TimingPoint& point, const Modifiers& modifiers);

// Bytes that must move between memory and the caches: every operand read once, every result written once; `standard` besides writes its
// scores, reads and writes them in the softmax, and reads them again.
double bytes_model_of(Work work, const TimingPoint& point, const Modifiers& modifiers);

// Bytes of one set of inputs; of the output and of what the algorithm keeps while it runs.
double input_bytes_of(Work work, const TimingPoint& point);
double working_bytes_of(Work work, const TimingPoint& point);

}  // namespace attn
