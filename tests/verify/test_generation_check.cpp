#include "verify/generation_check.h"

#include <functional>
#include <limits>

#include "catch.h"
#include "transformer/both_ways.h"
#include "transformer/plain_layer.h"
#include "verify/feed_forward_check.h"

using namespace attn;

namespace {

// The newest key or value once more, under another token.
template <class T>
void repeat_newest_key(KvCache<T>& cache, Index instead_of) {
  const MatrixView<const T> keys = cache.keys();
  std::copy_n(keys.row(keys.rows() - 1), keys.cols(), const_cast<T*>(keys.row(instead_of)));
}

}  // namespace

TEMPLATE_TEST_CASE("both ways of generation agree within the derived bound, and not by a wide margin", "", float, double) {
  for (const auto& [n, d_model, heads] : std::vector<std::tuple<Index, Index, Index>>{{1, 8, 2}, {2, 16, 1}, {150, 96, 4}, {40, 256, 2}}) {
    INFO("n " << n << " d_model " << d_model << " heads " << heads);
    const BothWays<TestType> ways(n, d_model, heads);
    const GenerationAgreement agreement = ways.compare();
    CHECK(agreement.right());
    CHECK(agreement.rows == n);
    CHECK(agreement.cached.share < 0.5);
    CHECK(agreement.cached.share > 0.002);  // the bound is no more than some hundred times what happens
    CHECK(agreement.largest_difference <= 2 * std::max(agreement.cached.allowed, agreement.uncached.allowed));
  }
}

TEMPLATE_TEST_CASE("a cache that is not as it should be is found", "", float, double) {
  using Cache = KvCache<TestType>;
  const Index n = 120, d_model = 64, heads = 4;
  const std::vector<std::pair<std::string, std::function<void(Cache&, Index)>>> mistakes = {
      {"nothing is appended", [](Cache& cache, Index) { cache.truncate(0); }},
      {"one token is not appended",
       [](Cache& cache, Index t) {
         if (t == 60) cache.truncate(60);
       }},
      {"the last token is not appended",
       [](Cache& cache, Index t) {
         if (t == n - 2) cache.truncate(n - 2);
       }},
      {"a token's key is overwritten",
       [](Cache& cache, Index t) {
         if (t == 100) repeat_newest_key(cache, 7);
       }},
      {"only the newest 64 tokens are kept",
       [](Cache& cache, Index t) {
         if (t == 64) cache.truncate(63);
       }},
  };
  for (const auto& [name, meddle] : mistakes) {
    INFO(name);
    const GenerationAgreement agreement = BothWays<TestType>(n, d_model, heads, meddle).compare();
    CHECK_FALSE(agreement.right());
    CHECK(agreement.cached.share > 1);
    CHECK(agreement.uncached.within());
    CHECK(agreement.wrong_projection.empty());
    CHECK(agreement.largest_difference > agreement.cached.allowed);
  }
}

TEMPLATE_TEST_CASE("a wrong output is found wherever it is, and NaN", "", float, double) {
  BothWays<TestType> ways(30, 32, 2);
  const TestType right = ways.cached(17, 5);
  ways.cached(17, 5) = std::numeric_limits<TestType>::quiet_NaN();
  CHECK(std::isinf(ways.compare().cached.share));
  // Twice what is allowed there, from the element's own row of the comparison.
  ways.cached(17, 5) = right + TestType(1);
  const LargestShare at = ways.compare().cached;
  CHECK(at.row == 17);
  CHECK(at.column == 5);
  ways.cached(17, 5) = static_cast<TestType>(at.expected + 2 * at.allowed);
  CHECK(ways.compare().cached.share == Approx(2).epsilon(0.1));
  ways.cached(17, 5) = right;
  ways.uncached(29, 0) += TestType(1);
  CHECK_FALSE(ways.compare().uncached.within());
  CHECK(ways.compare().cached.within());
}

TEMPLATE_TEST_CASE("a feed-forward part is right or found wrong", "", float, double) {
  const Index n = 9, d_model = 48;
  const auto y = random_matrix<TestType>(n, d_model, 1);
  const FeedForwardWeights<TestType> weights{random_matrix<TestType>(d_model, 4 * d_model, 2, 0.15),
                                             random_matrix<TestType>(4 * d_model, d_model, 3, 0.07)};
  Matrix<TestType> hidden(n, 4 * d_model), z(n, d_model);
  feed_forward<TestType>(weights, y.view(), hidden.view(), z.view());
  const std::vector<Index> rows = {0, 3, 8};
  const auto check = [&] { return check_feed_forward<TestType>(y.view(), weights.in.view(), weights.out.view(), z.view(), rows); };
  CHECK(check().share < 0.5);
  CHECK(check().share > 0.002);
  z(3, 7) += TestType(0.001);
  CHECK(check().within() == false);
  CHECK(check().row == 3);
  CHECK(check().column == 7);
  // ReLU instead of GELU.
  Matrix<double> rectified = plain_layer::product(y.view(), weights.in.view());
  for (Index i = 0; i < rectified.size(); ++i) rectified.data()[i] = std::max(0.0, rectified.data()[i]);
  const Matrix<double> other = plain_layer::product(MatrixView<const double>(rectified), weights.out.view());
  for (Index i = 0; i < z.size(); ++i) z.data()[i] = static_cast<TestType>(other.data()[i]);
  CHECK_FALSE(check().within());
}
