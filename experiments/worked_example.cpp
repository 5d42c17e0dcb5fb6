#include "worked_example.h"

#include <algorithm>
#include <cmath>

#include "attention/reference.h"
#include "attention/standard.h"
#include "gemm/gemm.h"
#include "gemm/reference.h"
#include "machine/memory_limit.h"

namespace attn {
namespace {

// Everything that run_example and run_example_precisely hold at once, in numbers of 16 bytes.
std::uint64_t example_bytes(const ExampleSizes& s) {
  const auto product = [](Index a, Index b) { return static_cast<double>(a) * static_cast<double>(b); };
  const double numbers =
      product(s.seq, s.d_model) + product(s.d_model, 2 * s.d_k + s.d_v) + product(s.seq, 4 * s.d_k + 4 * s.d_v) + 3 * product(s.seq, s.seq);
  constexpr double bytes = sizeof(long double);
  return numbers * bytes < 9e18 ? static_cast<std::uint64_t>(numbers * bytes) : std::uint64_t{1} << 63;
}

}  // namespace

ExampleSizes document_sizes(int document) { return document == 1 ? ExampleSizes{6, 16, 8, 8} : ExampleSizes{4, 6, 8, 8}; }

Matrix<double> draw_normals(Generator& generator, Index rows, Index cols, double divisor) {
  Matrix<double> matrix(rows, cols);
  generator.fill_standard_normal({matrix.data(), static_cast<std::size_t>(matrix.size())});
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] /= divisor;
  return matrix;
}

ExampleInputs draw_example(int document, const ExampleSizes& sizes, const Seed& seed) {
  require_memory(example_bytes(sizes), "example");
  Generator generator = default_rng(seed);
  const double divisor = document == 1 ? std::sqrt(static_cast<double>(sizes.d_model)) : 1;
  ExampleInputs inputs;
  inputs.x = draw_normals(generator, sizes.seq, sizes.d_model, 1);
  inputs.w_q = draw_normals(generator, sizes.d_model, sizes.d_k, divisor);
  inputs.w_k = draw_normals(generator, sizes.d_model, sizes.d_k, divisor);
  inputs.w_v = draw_normals(generator, sizes.d_model, sizes.d_v, divisor);
  return inputs;
}

ExampleResult<double> run_example(const ExampleInputs& inputs, bool causal) {
  const auto project = [&inputs](const Matrix<double>& w) {
    Matrix<double> projected(inputs.x.rows(), w.cols());
    gemm(1.0, inputs.x, w, 0.0, projected);
    return projected;
  };
  ExampleResult<double> result;
  result.q = project(inputs.w_q);
  result.k = project(inputs.w_k);
  result.v = project(inputs.w_v);
  AttentionOptions<double> options;
  options.causal = causal;
  HeadAttention<double> attended = standard_attention<double>(result.q.view(), result.k.view(), result.v.view(), options);
  result.weights = std::move(attended.weights);
  result.output = std::move(attended.output);
  return result;
}

ExampleResult<long double> run_example_precisely(const ExampleInputs& inputs, bool causal) {
  using Wide = long double;
  const auto widen = [](const Matrix<double>& m) {
    Matrix<Wide> wide(m.rows(), m.cols());
    std::copy_n(m.data(), m.size(), wide.data());
    return wide;
  };
  const auto project = [&](const Matrix<double>& w) {
    Matrix<Wide> projected(inputs.x.rows(), w.cols());
    reference::gemm<Wide>(1, widen(inputs.x).view(), widen(w).view(), false, 0, projected.view());
    return projected;
  };
  ExampleResult<Wide> result{project(inputs.w_q), project(inputs.w_k), project(inputs.w_v), {}, {}};
  const Index seq = inputs.x.rows();
  result.weights = Matrix<Wide>(seq, seq);
  result.output = Matrix<Wide>(seq, result.v.cols());
  const AttentionShape shape{1, 1, 1, seq, seq, result.q.cols(), result.v.cols()};
  AttentionOptions<Wide> options;
  options.causal = causal;
  const auto tensor = [](const Matrix<Wide>& m) { return TensorView<const Wide>::from_matrix(m.view()); };
  for (Index i = 0; i < seq; ++i) {
    const AttentionRow<Wide> row = reference_row<Wide, Wide>(shape, tensor(result.q), tensor(result.k), tensor(result.v), options, 0, 0, i);
    std::copy(row.weights.begin(), row.weights.end(), result.weights.view().row(i));
    std::copy(row.output.begin(), row.output.end(), result.output.view().row(i));
  }
  return result;
}

}  // namespace attn
