#include "transformer/generation.h"

#include "catch.h"
#include "machine/error.h"
#include "transformer/plain_layer.h"

using namespace attn;

TEMPLATE_TEST_CASE("generation with and without a cache gives the rows of the whole layer, by its definition", "", float, double) {
  for (const Index heads : {1, 4}) {
    const Index n = 40, d_model = 32;
    const auto x = random_matrix<TestType>(n, d_model, 1);
    const AttentionWeights<TestType> weights = random_weights<TestType>(d_model, 10);
    const Matrix<double> expected = plain_layer::attention_layer(weights, heads, x.view());
    const double allowed = 200 * std::numeric_limits<TestType>::epsilon();

    Matrix<TestType> y(n, d_model);
    UncachedBuffers<TestType> uncached(n, d_model);
    generate_uncached<TestType>(weights, heads, x.view(), uncached, y.view());
    CHECK(largest_difference<TestType>(y.view(), expected.view()) < allowed);

    KvCache<TestType> cache(n, d_model);
    CachedBuffers<TestType> cached(d_model);
    for (int again = 0; again < 2; ++again) {  // the second run begins with an empty cache, too
      Matrix<TestType> rows(n, d_model);
      generate_cached<TestType>(weights, heads, x.view(), cache, cached, rows.view());
      CHECK(largest_difference<TestType>(rows.view(), expected.view()) < allowed);
      CHECK(cache.length() == n);
    }
    CHECK(largest_difference<TestType>(cache.keys(), plain_layer::product(x.view(), weights.k.view())) < allowed);
    CHECK(largest_difference<TestType>(cache.values(), plain_layer::product(x.view(), weights.v.view())) < allowed);
  }
}

// By hand, for tokens of 2 numbers: step t without a cache is 4 products of (t, 2) by (2, 2), 8 t operations each, and t (t + 1) / 2 pairs
// of 8; with a cache 4 products of 8 and t pairs of 8.
TEST_CASE("operations of generation, step by step") {
  for (const Index heads : {1, 2}) {
    const LayerShape shape = layer_shape(2, heads);
    CHECK(uncached_generation_flops(shape, 1) == 4 * 8 + 8);
    CHECK(uncached_generation_flops(shape, 2) == (4 * 8 + 8) + (4 * 16 + 3 * 8));
    CHECK(cached_generation_flops(shape, 2) == (4 * 8 + 8) + (4 * 8 + 2 * 8));
  }
  const LayerShape shape = layer_shape(768, 12);
  double uncached = 0, cached = 0, uncached_numbers = 0, cached_numbers = 0;
  for (Index t = 1; t <= 300; ++t) {
    uncached += projection_flops(shape, t) + attention_flops(shape, t, true);
    cached += projection_flops(shape, 1) + 4.0 * 768 * static_cast<double>(t);
    CHECK(uncached_generation_flops(shape, t) == Approx(uncached));
    CHECK(cached_generation_flops(shape, t) == Approx(cached));
    const double rows = 768.0 * static_cast<double>(t);
    uncached_numbers += 4 * 768.0 * 768.0 + rows + 3 * 2 * rows + 2 * rows + rows;       // W; x; q, k, v; o; y
    cached_numbers += 4 * 768.0 * 768.0 + 768 + 2 * 768 + 2 * 768 + 2 * rows + 3 * 768;  // W; x; q; new k, v; all k, v; o, y
    CHECK(uncached_generation_traffic(shape, t) == Approx(uncached_numbers));
    CHECK(cached_generation_traffic(shape, t) == Approx(cached_numbers));
  }
}

TEST_CASE("a cache takes as many tokens as it has room for, and forgets what it is told to") {
  KvCache<double> cache(3, 4);
  CHECK(cache.bytes() == 2 * 3 * 4 * sizeof(double));
  for (Index t = 0; t < 3; ++t) {
    CHECK(cache.length() == t);
    for (Index c = 0; c < 4; ++c) {
      cache.next_key()(0, c) = static_cast<double>(10 * t + c);
      cache.next_value()(0, c) = static_cast<double>(100 * t + c);
    }
    cache.append();
  }
  CHECK(cache.keys()(2, 3) == 23);
  CHECK(cache.values()(1, 0) == 100);
  CHECK_THROWS_AS(cache.next_key(), UsageError);
  CHECK_THROWS_AS(cache.append(), UsageError);
  cache.truncate(1);
  CHECK(cache.length() == 1);
  CHECK(cache.keys().rows() == 1);
  CHECK(cache.values()(0, 2) == 2);
  CHECK_THROWS_AS(cache.truncate(2), UsageError);
  CHECK_THROWS_AS(cache.truncate(-1), UsageError);
}

TEST_CASE("generation refuses what does not fit its buffers") {
  const AttentionWeights<float> weights = random_weights<float>(8, 1);
  const auto x = random_matrix<float>(5, 8, 2);
  Matrix<float> y(5, 8), narrow(5, 7);
  UncachedBuffers<float> uncached(4, 8);
  CHECK_THROWS_AS(generate_uncached<float>(weights, 2, x.view(), uncached, y.view()), UsageError);
  KvCache<float> cache(4, 8);
  CachedBuffers<float> cached(8);
  CHECK_THROWS_AS(generate_cached<float>(weights, 2, x.view(), cache, cached, y.view()), UsageError);
  CHECK_THROWS_AS(generate_cached<float>(weights, 3, x.view(), cache, cached, y.view()), UsageError);
  CHECK_THROWS_AS(generate_cached<float>(weights, 2, x.view(), cache, cached, narrow.view()), UsageError);
}
