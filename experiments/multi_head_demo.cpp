#include "multi_head_demo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demo.h"
#include "numpy/array_text.h"
#include "numpy/round.h"

namespace attn {
namespace {

std::string shape_text(const std::vector<Index>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

Array make_array(std::string name, std::vector<Index> shape, const Matrix<double>& matrix) {
  return {std::move(name), std::move(shape), std::vector<double>(matrix.data(), matrix.data() + matrix.size())};
}

// Token 0's weights in each head of the first sequence: (heads, seq).
Matrix<double> weights_of_token_0(const MultiHeadSizes& sizes, const Matrix<double>& weights) {
  const Index seq = sizes.head.seq;
  Matrix<double> rows(sizes.heads, seq);
  for (Index head = 0; head < sizes.heads; ++head) std::copy_n(weights.view().row(head * seq), seq, rows.view().row(head));
  return rows;
}

// Sums of the first sequence's rows: (heads, seq).
Matrix<double> first_row_sums(const MultiHeadSizes& sizes, const Matrix<double>& weights) {
  const Index seq = sizes.head.seq;
  const std::vector<double> all = row_sums(weights.view().block(0, 0, sizes.heads * seq, seq));
  Matrix<double> sums(sizes.heads, seq);
  std::copy(all.begin(), all.end(), sums.data());
  return sums;
}

Block multi_head_block(int document, const MultiHeadInputs& inputs) {
  const auto& [head, heads, batch] = inputs.sizes;
  const MultiHeadResult result = run_multi_head(inputs, false);
  const std::vector<Index> output_shape = {batch, head.seq, head.d_model};
  const std::vector<Index> weights_shape = {batch, heads, head.seq, head.seq};
  const int decimals = document == 1 ? 2 : 3;  // as each prints its weights
  Block block{document, "multi-head", "self-attention with several heads"};
  block.text.line(fmt::format("output: {}  weights: {}  W_o: {}", shape_text(output_shape), shape_text(weights_shape),
                              shape_text({heads * head.d_v, head.d_model})));
  const char* whose = batch > 1 ? " of the first sequence" : "";
  block.text.line(fmt::format("row sums{}, a row per head:", whose))
      .line(array_str(round_decimals(first_row_sums(inputs.sizes, result.weights), 6)));
  block.text.line(fmt::format("weights for token 0{}, a row per head:", whose));
  block.text.line(array_str(round_decimals(weights_of_token_0(inputs.sizes, result.weights), decimals)));
  block.arrays = {make_array("weights", weights_shape, result.weights), make_array("output", output_shape, result.output)};
  return block;
}

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double largest = 0;
  for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a.data()[i] - b.data()[i]));
  return largest;
}

Block pytorch_block(int document, const MultiHeadInputs& inputs, const Seed& seed) {
  Block block{document, "pytorch", "the same by PyTorch"};
  for (const bool causal : {false, true}) {
    block.text.line(fmt::format("causal={:<5} max difference vs PyTorch: ", causal ? "True" : "False"));
    Row& row = block.rows.emplace_back().exact("causal", causal);
    const auto expected = pytorch_multi_head(document, inputs.sizes, seed, causal);
    if (!expected) {
      block.text.add("no reference for these inputs");
      row.exact("max_difference", nullptr);
      row.exact("reason", "PyTorch was run on the documents' own sizes and seed 0, with 1, 2, 4 or 8 heads and batches of 1, 2 or 4");
      continue;
    }
    const double difference = largest_difference(run_multi_head(inputs, causal).output, *expected);
    block.text.add(fmt::format("{:.1e}", difference), Cell::measured);
    row.measured("max_difference", difference);
  }
  return block;
}

}  // namespace

std::vector<Block> multi_head_blocks(int document, const MultiHeadSizes& sizes, const Seed& seed) {
  const MultiHeadInputs inputs = draw_multi_head(document, sizes, seed);
  return {multi_head_block(document, inputs), pytorch_block(document, inputs, seed)};
}

}  // namespace attn
