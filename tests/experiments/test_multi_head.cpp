// The worked examples with several heads against PyTorch's, and against the documents' own where both must agree.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "gemm/reference.h"
#include "io/safetensors.h"
#include "multi_head_example.h"
#include "worked_example.h"

using namespace attn;

namespace {

double largest(const Matrix<double>& a) {
  double most = 0;
  for (Index i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i]));
  return most;
}

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (Index i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

}  // namespace

// The chain has three products and a softmax. Document 2's unscaled scores reach about 50, whose rounding errors the softmax turns into
// relative ones of 50 units; everything else is smaller.
TEST_CASE("several heads and batches agree with PyTorch", "[multi-head]") {
  std::size_t compared = 0;
  for (const int document : {1, 2}) {
    for (const Index heads : {1, 2, 4, 8}) {
      for (const Index batch : {1, 2, 4}) {
        const MultiHeadSizes sizes{document_sizes(document), heads, batch};
        const MultiHeadInputs inputs = draw_multi_head(document, sizes, Seed(0));
        for (const bool causal : {false, true}) {
          const auto expected = pytorch_multi_head(document, sizes, Seed(0), causal);
          REQUIRE(expected);
          INFO("document " << document << ", " << heads << " heads, batch " << batch << ", causal " << causal);
          const double allowed = (document == 1 ? 16 : 256) * 0x1p-53 * largest(*expected);
          CHECK(largest_difference(run_multi_head(inputs, causal).output, *expected) < allowed);
          ++compared;
        }
      }
    }
  }
  CHECK(compared == 48);
}

TEST_CASE("where PyTorch was not run there is no reference", "[multi-head]") {
  const ExampleSizes own = document_sizes(1);
  CHECK_FALSE(pytorch_multi_head(1, {own, 3, 1}, Seed(0), false));
  CHECK_FALSE(pytorch_multi_head(1, {own, 2, 3}, Seed(0), false));
  CHECK_FALSE(pytorch_multi_head(1, {own, 2, 2}, Seed(1), false));
  CHECK_FALSE(pytorch_multi_head(1, {{7, 16, 8, 8}, 2, 2}, Seed(0), false));
}

TEST_CASE("one head and one sequence are the document's example, times W_o", "[multi-head]") {
  for (const int document : {1, 2}) {
    const ExampleSizes sizes = document_sizes(document);
    const ExampleResult<double> example = run_example(draw_example(document, sizes, Seed(0)), true);
    const MultiHeadInputs inputs = draw_multi_head(document, {sizes, 1, 1}, Seed(0));
    const MultiHeadResult result = run_multi_head(inputs, true);
    CHECK(largest_difference(result.weights, example.weights) < 1e-15);
    Matrix<double> expected(sizes.seq, sizes.d_model);
    reference::gemm<double>(1, example.output.view(), inputs.w_o.view(), false, 0, expected.view());
    CHECK(largest_difference(result.output, expected) < 64 * 0x1p-53 * largest(expected));
  }
}

TEST_CASE("values may be wider than keys, and sequences do not see each other", "[multi-head]") {
  const MultiHeadSizes sizes{{5, 7, 3, 4}, 3, 2};
  MultiHeadInputs inputs = draw_multi_head(1, sizes, Seed(5));
  const MultiHeadResult before = run_multi_head(inputs, false);
  CHECK(before.weights.rows() == 2 * 3 * 5);
  CHECK(before.output.rows() == 2 * 5);
  CHECK(before.output.cols() == 7);
  for (Index j = 0; j < 7; ++j) inputs.x(9, j) += 1;  // the last token of the second sequence
  const MultiHeadResult after = run_multi_head(inputs, false);
  for (Index i = 0; i < 10; ++i) {
    const bool same = std::equal(before.output.view().row(i), before.output.view().row(i) + 7, after.output.view().row(i));
    CHECK(same == (i < 5));
  }
}
