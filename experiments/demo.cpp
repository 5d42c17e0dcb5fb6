#include "demo.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "embedded_files.h"
#include "experiment.h"
#include "io/npy.h"
#include "machine/error.h"
#include "multi_head_demo.h"
#include "numpy/array_text.h"
#include "numpy/round.h"
#include "options/options.h"

namespace attn {
namespace {

// Digits behind the point that NumPy prints of an array by default.
constexpr int default_print_decimals = 8;

struct DemoOptions {
  int document = 0;
  Seed seed;
  ExampleSizes sizes;          // 0: the document's own
  Index heads = 0, batch = 0;  // 0: not given

  bool multi_head() const { return heads > 0 || batch > 0; }
};

struct Example {
  ExampleResult<double> computed;
  ExampleResult<long double> precise;
};

std::string rounded_text(std::vector<double> values, int decimals) {
  round_decimals(std::span(values), decimals);
  return array_str(std::span<const double>(values));
}

template <class T>
std::span<const T> first_row(const Matrix<T>& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.cols())};
}

std::vector<double> first_row_copy(const Matrix<double>& matrix) {
  const auto row = first_row(matrix);
  return {row.begin(), row.end()};
}

Block example_block(const Example& example) {
  const ExampleResult<double>& result = example.computed;
  Block block{1, "example", "self-attention on random tokens"};
  const std::vector<double> sums = row_sums(result.weights.view());
  block.text.line(fmt::format("output: {}  weights: {}", shape_text(result.output.rows(), result.output.cols()),
                              shape_text(result.weights.rows(), result.weights.cols())));
  block.text.line("row sums: " + rounded_text(sums, 6));
  block.text.line("weights for token 0: " + rounded_text(first_row_copy(result.weights), 2));
  block.arrays = {make_array("output", result.output), make_array("weights", result.weights), make_vector("row_sums", sums)};
  add_rounded(block, "row sum", sums, row_sums(example.precise.weights.view()), 6);
  add_rounded(block, "weight of token", first_row(result.weights), first_row(example.precise.weights), 2);
  return block;
}

// Whose values token 0's new representation is made of, largest share first.
Block token_0_block(const Example& example) {
  Block block{1, "token-0", "what token 0 attends to"};
  const std::span<const double> weights = first_row(example.computed.weights);
  const std::span<const long double> precise = first_row(example.precise.weights);
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  block.text.line("token 0 is ");
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t token = order[i];
    block.text.add(fmt::format("{}{:.0f}% token {}", i > 0 ? ", " : "", 100 * weights[token], token));
    block.figures.line(fmt::format("token {} {:.0f}%", token, 100 * weights[token]));
    block.rows.push_back(Row().exact("token", token).exact("weight", weights[token]));
    block.rounded.push_back({fmt::format("share of token {}", token), 100 * weights[token], 100 * precise[token], 0});
  }
  return block;
}

// What PyTorch gave for document 1's q, k, v: (6, 8) float64.
Matrix<double> pytorch_output(bool causal) {
  const std::string name = causal ? "pytorch/document1_causal.npy" : "pytorch/document1_full.npy";
  return read_npy(embedded_file(name), name).to_matrix<double>();
}

double largest_difference(MatrixView<const double> a, MatrixView<const double> b) {
  double largest = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) largest = std::max(largest, std::abs(a(i, j) - b(i, j)));
  }
  return largest;
}

Block pytorch_block(const ExampleInputs& inputs, bool has_reference) {
  Block block{1, "pytorch", "the same by PyTorch"};
  for (const bool causal : {false, true}) {
    block.text.line(fmt::format("causal={:<5} max difference vs PyTorch: ", causal ? "True" : "False"));
    Row& row = block.rows.emplace_back().exact("causal", causal);
    if (!has_reference) {
      block.text.add("no reference for these inputs");
      row.exact("max_difference", nullptr).exact("reason", "PyTorch was run on document 1's own inputs (seed 0)");
      continue;
    }
    const double difference = largest_difference(run_example(inputs, causal).output, pytorch_output(causal));
    block.text.add(fmt::format("{:.1e}", difference), Cell::rounding_error);
    row.measured("max_difference", difference);
  }
  return block;
}

Block shapes_block(const Example& example) {
  const ExampleResult<double>& result = example.computed;
  Block block{2, "shapes", "queries, keys and values"};
  block.text.line(fmt::format("Q shape: {}, K shape: {}, V shape: {}", shape_text(result.q.rows(), result.q.cols()),
                              shape_text(result.k.rows(), result.k.cols()), shape_text(result.v.rows(), result.v.cols())));
  block.arrays = {make_array("q", result.q), make_array("k", result.k), make_array("v", result.v)};
  return block;
}

Block weights_block(const Example& example) {
  const ExampleResult<double>& result = example.computed;
  Block block{2, "weights", "attention on random tokens"};
  const std::vector<double> sums = row_sums(result.weights.view());
  const std::string scores_shape = shape_text(result.weights.rows(), result.weights.cols());
  block.text.line("scores shape: " + scores_shape);
  block.text.line("weights row sums: " + array_str(std::span<const double>(sums)));
  block.text.line("weights[0]: " + rounded_text(first_row_copy(result.weights), 3));
  block.text.line("output shape: " + shape_text(result.output.rows(), result.output.cols()));
  block.arrays = {make_array("weights", result.weights), make_vector("row_sums", sums), make_array("output", result.output)};
  add_rounded(block, "row sum", sums, row_sums(example.precise.weights.view()), default_print_decimals);
  add_rounded(block, "weight of token", first_row(result.weights), first_row(example.precise.weights), 3);
  return block;
}

ExampleSizes with_defaults(ExampleSizes sizes, int document) {
  const ExampleSizes own = document_sizes(document);
  if (sizes.seq == 0) sizes.seq = own.seq;
  if (sizes.d_model == 0) sizes.d_model = own.d_model;
  // The documents' values are as wide as their keys.
  if (sizes.d_v == 0) sizes.d_v = sizes.d_k == 0 ? own.d_v : sizes.d_k;
  if (sizes.d_k == 0) sizes.d_k = own.d_k;
  return sizes;
}

Report run_demo(const DemoOptions& options) {
  Report report{"demo"};
  report.headings = Headings::per_document;
  report.args = {{"document", options.document == 0 ? Json("both") : Json(options.document)}, {"seed", options.seed.text()}};
  if (options.multi_head())
    report.args.update({{"heads", std::max<Index>(options.heads, 1)}, {"batch", std::max<Index>(options.batch, 1)}});
  for (const int document : {1, 2}) {
    if (options.document != 0 && options.document != document) continue;
    const ExampleSizes sizes = with_defaults(options.sizes, document);
    report.args[fmt::format("sizes_document_{}", document)] = {
        {"seq", sizes.seq}, {"d_model", sizes.d_model}, {"d_k", sizes.d_k}, {"d_v", sizes.d_v}};
    std::vector<Block> blocks =
        options.multi_head()
            ? multi_head_blocks(document, {sizes, std::max<Index>(options.heads, 1), std::max<Index>(options.batch, 1)}, options.seed)
            : demo_blocks(document, sizes, options.seed);
    for (Block& block : blocks) report.blocks.push_back(std::move(block));
  }
  return report;
}

std::function<Report(Session&)> set_up_demo(CLI::App& app) {
  const auto options = std::make_shared<DemoOptions>();
  add_document(app, options->document);
  add_size(app, "--seq", options->sizes.seq, "Number of tokens").default_str("6, document 2: 4");
  add_size(app, "--d-model,--dmodel", options->sizes.d_model, "Width of a token").default_str("16, document 2: 6");
  add_size(app, "--d-k,--dk", options->sizes.d_k, "Width of queries and keys").default_str("8");
  add_size(app, "--d-v,--dv", options->sizes.d_v, "Width of values").default_str("d_k");
  add_size(app, "--heads", options->heads, "Several heads of that size, and a product with W_o behind them").default_str("");
  add_size(app, "--batch", options->batch, "Sequences; with --heads or alone, for one head").default_str("");
  add_seed(app, options->seed);
  return [options](Session&) { return run_demo(*options); };
}

}  // namespace

std::string shape_text(Index rows, Index cols) { return fmt::format("({}, {})", rows, cols); }

template <class T>
std::vector<T> row_sums(MatrixView<const T> matrix) {
  std::vector<T> sums;
  for (Index i = 0; i < matrix.rows(); ++i) sums.push_back(std::accumulate(matrix.row(i), matrix.row(i) + matrix.cols(), T{0}));
  return sums;
}

template std::vector<double> row_sums(MatrixView<const double>);
template std::vector<long double> row_sums(MatrixView<const long double>);

void add_rounded(Block& block, const std::string& name, std::span<const double> values, std::span<const long double> precise,
                 int decimals) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    block.rounded.push_back({fmt::format("{} {}", name, i), values[i], precise[i], decimals});
  }
}

std::vector<Block> demo_blocks(int document, const ExampleSizes& sizes, const Seed& seed) {
  const ExampleInputs inputs = draw_example(document, sizes, seed);
  const Example example{run_example(inputs, false), run_example_precisely(inputs, false)};
  std::vector<Block> blocks;
  if (document == 1) {
    blocks.push_back(example_block(example));
    blocks.push_back(token_0_block(example));
    blocks.push_back(pytorch_block(inputs, seed == Seed(0) && sizes == document_sizes(1)));
  } else {
    blocks.push_back(shapes_block(example));
    blocks.push_back(weights_block(example));
  }
  return blocks;
}

Experiment demo() { return {"demo", "The worked examples of both documents", {}, set_up_demo}; }

}  // namespace attn
