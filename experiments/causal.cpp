#include "causal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "attention/softmax.h"
#include "demo.h"
#include "experiment.h"
#include "machine/error.h"
#include "numpy/array_text.h"
#include "numpy/round.h"
#include "options/options.h"
#include "worked_example.h"

namespace attn {
namespace {

// Document 2's example scores: (4, 4), query by key.
constexpr Index document_2_seq = 4;
constexpr double document_2_scores[document_2_seq][document_2_seq] = {
    {1.0, 2.0, 0.5, 1.5}, {0.3, 2.1, 0.8, 0.9}, {1.2, 0.5, 1.8, 0.4}, {0.7, 1.3, 1.0, 2.5}};

struct CausalOptions {
  int document = 0;
  Seed seed;
};

void add_rounded_rows(Block& block, const std::string& name, MatrixView<const double> values, MatrixView<const long double> precise,
                      int decimals) {
  const auto cols = static_cast<std::size_t>(values.cols());
  for (Index i = 0; i < values.rows(); ++i) {
    add_rounded(block, fmt::format("{} {},", name, i), {values.row(i), cols}, {precise.row(i), cols}, decimals);
  }
}

bool same_last_row(const Matrix<double>& a, const Matrix<double>& b) {
  const double* last = a.view().row(a.rows() - 1);
  return std::equal(last, last + a.cols(), b.view().row(b.rows() - 1));
}

Block figure_block(const Seed& seed) {
  Block block{1, "causal", "weights without and with a causal mask"};
  const ExampleInputs inputs = draw_example(1, document_sizes(1), seed);
  const Matrix<double> full = run_example(inputs, false).weights;
  const Matrix<double> causal = run_example(inputs, true).weights;
  const std::string first = fmt::format("{:.2f}", causal(0, 0));
  const std::string last = same_last_row(full, causal) ? "identical" : "different";
  block.text.line("weights, full:").line(array_str(round_decimals(full, 2)));
  block.text.line("weights, causal:").line(array_str(round_decimals(causal, 2)));
  block.text.line("token 0 sees only itself, causal: its weight is " + first);
  block.text.line("last row, full and causal: " + last);
  block.figures.line("token 0 to itself " + first).line("last row " + last);
  block.rows.push_back(Row().exact("token_0_to_itself", causal(0, 0)).exact("last_row", last));
  block.arrays = {make_array("weights_full", full), make_array("weights_causal", causal)};
  add_rounded_rows(block, "full weight", full, run_example_precisely(inputs, false).weights, 2);
  add_rounded_rows(block, "causal weight", causal, run_example_precisely(inputs, true).weights, 2);
  return block;
}

// Row-wise softmax in long double, the plain way.
Matrix<long double> precise_softmax(MatrixView<const double> scores) {
  Matrix<long double> weights(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    const double* row = scores.row(i);
    const long double row_max = *std::max_element(row, row + scores.cols());
    long double sum = 0;
    for (Index j = 0; j < scores.cols(); ++j) sum += weights(i, j) = std::exp(row[j] - row_max);
    for (Index j = 0; j < scores.cols(); ++j) weights(i, j) /= sum;
  }
  return weights;
}

Block mask_block() {
  Block block{2, "mask", "mask, masked scores and weights"};
  Matrix<double> mask(document_2_seq, document_2_seq);
  Matrix<double> masked(document_2_seq, document_2_seq);
  for (Index i = 0; i < document_2_seq; ++i) {
    for (Index j = 0; j < document_2_seq; ++j) {
      mask(i, j) = j <= i ? 1 : 0;
      masked(i, j) = mask(i, j) != 0 ? document_2_scores[i][j] : -std::numeric_limits<double>::infinity();
    }
  }
  Matrix<double> weights(document_2_seq, document_2_seq);
  softmax_rows(masked, weights);
  block.text.line("causal mask:").line(array_str(mask)).line();
  block.text.line("masked scores:").line(array_str(masked)).line();
  block.text.line("weights after softmax (notice upper triangle = 0):").line(array_str(round_decimals(weights, 3)));
  block.arrays = {make_array("mask", mask), make_array("masked_scores", masked), make_array("weights", weights)};
  add_rounded_rows(block, "weight", weights, precise_softmax(masked), 3);
  return block;
}

Report run_causal(const CausalOptions& options) {
  Report report{"causal"};
  report.headings = Headings::per_document;
  report.args = {{"document", options.document == 0 ? Json("both") : Json(options.document)}, {"seed", options.seed.text()}};
  for (const int document : {1, 2}) {
    if (options.document != 0 && options.document != document) continue;
    for (Block& block : causal_blocks(document, options.seed)) report.blocks.push_back(std::move(block));
  }
  return report;
}

std::function<Report(Session&)> set_up_causal(CLI::App& app) {
  const auto options = std::make_shared<CausalOptions>();
  add_document(app, options->document);
  const AddedOption seed = add_seed(app, options->seed);
  return [options, seed](Session&) {
    if (options->document == 2 && seed.given()) throw UsageError("causal: --seed: document 2's scores are fixed, nothing is drawn");
    return run_causal(*options);
  };
}

}  // namespace

std::vector<Block> causal_blocks(int document, const Seed& seed) {
  std::vector<Block> blocks;
  blocks.push_back(document == 1 ? figure_block(seed) : mask_block());
  return blocks;
}

Experiment causal() { return {"causal", "What a causal mask does to scores and weights", {}, set_up_causal}; }

}  // namespace attn
