#include "multi_head_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/standard.h"
#include "embedded_files.h"
#include "gemm/gemm.h"
#include "io/safetensors.h"
#include "machine/memory_limit.h"

namespace attn {
namespace {

// x and output, the four W, Q K V and the heads' outputs; weights, and the same again for the scores.
std::uint64_t example_bytes(const MultiHeadSizes& sizes) {
  const auto& [seq, d_model, d_k, d_v] = sizes.head;
  const auto number = [](Index n) { return static_cast<double>(n); };
  const double rows = number(sizes.batch) * number(seq);
  const double wide = number(sizes.heads) * (number(d_k) + number(d_v));
  const double numbers =
      2 * rows * number(d_model) + 2 * number(d_model) * wide + 2 * rows * wide + 2 * rows * number(sizes.heads) * number(seq);
  constexpr double most = 9e18;
  return numbers * sizeof(double) < most ? static_cast<std::uint64_t>(numbers * sizeof(double)) : std::uint64_t{1} << 63;
}

Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> result(a.rows(), b.cols());
  gemm(1.0, a, b, 0.0, result);
  return result;
}

}  // namespace

MultiHeadInputs draw_multi_head(int document, const MultiHeadSizes& sizes, const Seed& seed) {
  require_memory(example_bytes(sizes), "example");
  const auto& [seq, d_model, d_k, d_v] = sizes.head;
  Generator generator = default_rng(seed);
  const auto draw_w = [&generator, document](Index rows, Index cols) {
    return draw_normals(generator, rows, cols, document == 1 ? std::sqrt(static_cast<double>(rows)) : 1);
  };
  MultiHeadInputs inputs;
  inputs.sizes = sizes;
  inputs.x = draw_normals(generator, sizes.batch * seq, d_model, 1);
  inputs.w_q = draw_w(d_model, sizes.heads * d_k);
  inputs.w_k = draw_w(d_model, sizes.heads * d_k);
  inputs.w_v = draw_w(d_model, sizes.heads * d_v);
  inputs.w_o = draw_w(sizes.heads * d_v, d_model);
  return inputs;
}

MultiHeadResult run_multi_head(const MultiHeadInputs& inputs, bool causal) {
  const auto& head = inputs.sizes.head;
  const Index heads = inputs.sizes.heads;
  const Index batch = inputs.sizes.batch;
  const Matrix<double> q = product(inputs.x, inputs.w_q);
  const Matrix<double> k = product(inputs.x, inputs.w_k);
  const Matrix<double> v = product(inputs.x, inputs.w_v);
  Matrix<double> concatenated(batch * head.seq, heads * head.d_v);
  const auto split = [&](auto* data, Index dim) {
    return TensorView<std::remove_pointer_t<decltype(data)>>::nhd(data, batch, heads, head.seq, dim);
  };
  MultiHeadResult result;
  result.weights = Matrix<double>(batch * heads * head.seq, head.seq);
  AttentionOptions<double> options;
  options.causal = causal;
  StandardOutputs<double> outputs;
  outputs.weights = result.weights.data();
  standard_attention<double>(
      {split(q.data(), head.d_k), split(k.data(), head.d_k), split(v.data(), head.d_v), split(concatenated.data(), head.d_v)}, options,
      outputs);
  result.output = product(concatenated, inputs.w_o);
  return result;
}

std::optional<Matrix<double>> pytorch_multi_head(int document, const MultiHeadSizes& sizes, const Seed& seed, bool causal) {
  const auto among = [](Index n, std::initializer_list<Index> kept) { return std::find(kept.begin(), kept.end(), n) != kept.end(); };
  const bool kept =
      seed == Seed(0) && sizes.head == document_sizes(document) && among(sizes.heads, {1, 2, 4, 8}) && among(sizes.batch, {1, 2, 4});
  if (!kept) return std::nullopt;
  constexpr const char* file = "pytorch/multi_head.safetensors";
  const std::string name = fmt::format("document{}.heads{}.batch{}.{}", document, sizes.heads, sizes.batch, causal ? "causal" : "full");
  return read_safetensors(embedded_file(file), file, name).to_matrix<double>();
}

}  // namespace attn
