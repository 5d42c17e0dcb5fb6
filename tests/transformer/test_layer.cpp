#include "transformer/layer.h"

#include "catch.h"
#include "machine/error.h"
#include "transformer/plain_layer.h"

using namespace attn;

TEMPLATE_TEST_CASE("attention of heads side by side is that of each head, by both algorithms", "", float, double) {
  const double allowed = 200 * std::numeric_limits<TestType>::epsilon();
  for (const Index heads : {1, 3, 5}) {
    for (const bool causal : {false, true}) {
      for (const auto& [queries, keys] : std::vector<std::pair<Index, Index>>{{1, 1}, {1, 70}, {33, 33}, {20, 301}}) {
        const Index d_model = heads * 12;
        const auto q = random_matrix<TestType>(queries, d_model, 1);
        const auto k = random_matrix<TestType>(keys, d_model, 2);
        const auto v = random_matrix<TestType>(keys, d_model, 3);
        const Matrix<double> expected = plain_layer::attention(heads, causal, q.view(), k.view(), v.view());
        for (const AttentionAlgorithm algorithm : {AttentionAlgorithm::standard, AttentionAlgorithm::fused}) {
          INFO("heads " << heads << " causal " << causal << " queries " << queries << " keys " << keys);
          Matrix<TestType> o(queries, d_model);
          attend<TestType>(algorithm, heads, causal, q.view(), k.view(), v.view(), o.view());
          CHECK(largest_difference<TestType>(o.view(), expected.view()) < allowed);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("feed-forward is two products with GELU between them", "", float, double) {
  const Index n = 13, d_model = 24, d_hidden = 96;
  const auto y = random_matrix<TestType>(n, d_model, 1);
  const FeedForwardWeights<TestType> weights{random_matrix<TestType>(d_model, d_hidden, 2, 0.2),
                                             random_matrix<TestType>(d_hidden, d_model, 3, 0.1)};
  Matrix<double> expected_hidden = plain_layer::product(y.view(), weights.in.view());
  for (Index i = 0; i < expected_hidden.size(); ++i) expected_hidden.data()[i] = plain_layer::gelu(expected_hidden.data()[i]);
  const Matrix<double> expected = plain_layer::product(MatrixView<const double>(expected_hidden), weights.out.view());
  Matrix<TestType> hidden(n, d_hidden), z(n, d_model);
  feed_forward<TestType>(weights, y.view(), hidden.view(), z.view());
  const double allowed = 100 * std::numeric_limits<TestType>::epsilon();
  CHECK(largest_difference<TestType>(hidden.view(), expected_hidden.view()) < allowed);
  CHECK(largest_difference<TestType>(z.view(), expected.view()) < allowed);
}

// By hand, for 3 tokens of 2 numbers and 1 or 2 heads: a product of (3, 2) by (2, 2) is 3 * 2 sums of 2 multiplications and 2 additions
// (the first to 0), 24; there are 4. A query and a key: 2 heads of width 1, or one of 2, take 2 multiply-adds for the scores and 2 for the
// output, 8 operations; there are 9 pairs, or 6 causal ones. Hidden rows have 8 numbers: 3 * 8 sums of 2 and 3 * 2 sums of 8, 96 each.
TEST_CASE("operations of a layer, counted by hand") {
  for (const Index heads : {1, 2}) {
    const LayerShape shape = layer_shape(2, heads);
    CHECK(shape.d_hidden == 8);
    CHECK(projection_flops(shape, 3) == 4 * 24);
    CHECK(attention_flops(shape, 3, false) == 9 * 8);
    CHECK(attention_flops(shape, 3, true) == 6 * 8);
    CHECK(feed_forward_flops(shape, 3) == 2 * 96);
  }
}

TEST_CASE("attention is more than half of the operations from the n of the closed form on") {
  for (const Index d_model : {1, 2, 6, 64, 768}) {
    for (const bool causal : {false, true}) {
      const LayerShape shape = layer_shape(d_model, 1);
      const auto more_than_half = [&](Index n) {
        return attention_flops(shape, n, causal) > projection_flops(shape, n) + feed_forward_flops(shape, n);
      };
      Index first = 1;
      while (!more_than_half(first)) ++first;
      INFO("d_model " << d_model << " causal " << causal);
      CHECK(attention_majority(shape, causal) == first);
      CHECK(first == (causal ? 12 * d_model : 6 * d_model + 1));
    }
  }
}

TEST_CASE("heads that do not divide the width are refused") {
  CHECK_THROWS_AS(layer_shape(10, 3), UsageError);
  CHECK_THROWS_AS(layer_shape(10, 0), UsageError);
  Matrix<float> m(2, 10), o(2, 10);
  CHECK_THROWS_AS(attend<float>(AttentionAlgorithm::fused, 3, false, m.view(), m.view(), m.view(), o.view()), UsageError);
}
