// scaling-sweep --gradients: the softmax's Jacobian and the gradient of Q, against finite differences, NumPy and one another.
#include <cmath>
#include <random>

#include "attention/softmax.h"
#include "catch.h"
#include "scaling/gradient_table.h"

using namespace attn;

namespace {

std::vector<double> softmax(const std::vector<long double>& scores) {
  long double sum = 0;
  for (const long double s : scores) sum += std::exp(s);
  std::vector<double> weights;
  for (const long double s : scores) weights.push_back(static_cast<double>(std::exp(s) / sum));
  return weights;
}

Matrix<double> normals(Index rows, Index cols, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(random);
  return matrix;
}

// g.o in long double, o = softmax(scale q K^T) V.
long double loss(const std::vector<long double>& q, const Matrix<double>& k, const Matrix<double>& v, const Matrix<double>& g,
                 double scale) {
  long double sum = 0, weighted = 0;
  for (Index j = 0; j < k.rows(); ++j) {
    long double score = 0, value = 0;
    for (Index e = 0; e < k.cols(); ++e) score += q[static_cast<std::size_t>(e)] * k(j, e);
    for (Index e = 0; e < v.cols(); ++e) value += static_cast<long double>(g(0, e)) * v(j, e);
    const long double weight = std::exp(scale * score);
    sum += weight;
    weighted += weight * value;
  }
  return weighted / sum;
}

double number(const Block& block, std::size_t row, const char* name) {
  const Field* found = block.rows.at(row).find(name);
  REQUIRE(found != nullptr);
  return found->value.get<double>();
}

}  // namespace

TEST_CASE("the Jacobian's norm and largest entry are those of finite differences of the softmax", "[gradients]") {
  const std::vector<std::vector<long double>> cases = {{0.3L, -1.2L, 2.0L, 0.9L}, {0, 0}, {5, 1, 4.5L, -3, 0, 0.1L}};
  for (const std::vector<long double>& scores : cases) {
    double squares = 0, largest = 0;
    constexpr long double step = 1e-4L;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      std::vector<long double> above = scores, below = scores;
      above[j] += step;
      below[j] -= step;
      const std::vector<double> high = softmax(above), low = softmax(below);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const double entry = (high[i] - low[i]) / static_cast<double>(2 * step);
        squares += entry * entry;
        largest = std::max(largest, std::abs(entry));
      }
    }
    const JacobianSize size = jacobian_size(softmax(scores));
    CHECK(size.norm == Approx(std::sqrt(squares)).epsilon(1e-7));
    CHECK(size.largest == Approx(largest).epsilon(1e-7));
  }
}

TEST_CASE("a Jacobian next to nothing keeps its digits", "[gradients]") {
  // p = (1 - t, t): every entry is t (1 - t), the norm twice that. Here 1 - p would be rounded away.
  for (const double t : {1e-3, 1e-20, 1e-150}) {
    const JacobianSize size = jacobian_size(std::vector<double>{1 - t, t});
    CHECK(size.largest == Approx(t * (1 - t)).epsilon(1e-12));
    CHECK(size.norm == Approx(2 * t * (1 - t)).epsilon(1e-12));
  }
  CHECK(jacobian_size(std::vector<double>{1, 0, 0}).norm == 0);
}

TEST_CASE("the gradient of Q is that of finite differences", "[gradients]") {
  std::mt19937_64 random(7);
  for (const auto& [d, seq, scale] : {std::tuple(5, 7, 1.0), std::tuple(16, 3, 0.25), std::tuple(1, 1, 1.0)}) {
    const Matrix<double> q = normals(1, d, random), k = normals(seq, d, random), v = normals(seq, 6, random), g = normals(1, 6, random);
    const auto width = static_cast<std::size_t>(d);
    const QueryGradients found = query_gradients({{q.data(), width}, k, v, {g.data(), 6}}, scale, {});
    const std::vector<long double> at(q.data(), q.data() + d);
    for (std::size_t e = 0; e < width; ++e) {
      std::vector<long double> above = at, below = at;
      constexpr long double step = 1e-5L;
      above[e] += step;
      below[e] -= step;
      const long double expected = (loss(above, k, v, g, scale) - loss(below, k, v, g, scale)) / (2 * step);
      CHECK(found.query[e] == Approx(static_cast<double>(expected)).epsilon(1e-7).margin(1e-12));
    }
  }
}

TEST_CASE("the table's row at d_k = 4 is NumPy's", "[gradients]") {
  // NumPy 2.4.6 on document 1's own q and k: p = softmax(c s), J = diag(p) - p p^T as a matrix; g = default_rng([0, 1]).normal(size=
  // (2000, 4)) / 2, then v = normal(size=(2000, 10, 4)); lengths of c (J (v g)) k, mean, standard error and median.
  ScalingOptions options;
  options.d_k = {4};
  const GradientPair pair = gradient_pairs(options).front();
  CHECK(pair.unscaled.jacobian_norm.mean == Approx(0.33760493929238783).epsilon(1e-12));
  CHECK(pair.unscaled.jacobian_norm.standard_error == Approx(0.0018667484114563368).epsilon(1e-10));
  CHECK(pair.unscaled.largest_entry.mean == Approx(0.20741995846584815).epsilon(1e-12));
  CHECK(pair.unscaled.flat_rows.mean == 0.0005);
  CHECK(pair.unscaled.query_gradient.mean == Approx(0.4925074175779827).epsilon(1e-12));
  CHECK(pair.unscaled.query_gradient_median == Approx(0.3906505067540035).epsilon(1e-12));
  CHECK(pair.scaled.jacobian_norm.mean == Approx(0.3413208327730731).epsilon(1e-12));
  CHECK(pair.scaled.flat_rows.mean == 0);
  CHECK(pair.scaled.query_gradient.mean == Approx(0.27269245368325556).epsilon(1e-12));
  CHECK(pair.scaled.query_gradient.standard_error == Approx(0.00422006712078661).epsilon(1e-10));
}

TEST_CASE("gradients: each row's command draws that row alone, and the plain table's numbers stand where they stood", "[gradients]") {
  ScalingOptions options;
  options.d_k = {8, 3, 5};
  options.trials = 60;
  options.seq = 4;
  Status status = Status::passed;
  const Block block = gradient_block(options, status);
  const Block plain = scaling_block(options, false, status);
  REQUIRE(block.rows.size() == 6);
  for (std::size_t i = 0; i < 3; ++i) {
    ScalingOptions alone = options;
    alone.d_k = {options.d_k[i]};
    const Json position = block.rows[2 * i].find("stream_position")->value;
    CHECK(position == plain.rows[i].find("stream_position")->value);
    alone.advance = position.get<std::uint64_t>();
    const Block row = gradient_block(alone, status);
    for (const char* name : {"jacobian_norm", "query_gradient", "query_gradient_median"}) {
      CHECK(number(row, 0, name) == number(block, 2 * i, name));
      CHECK(number(row, 1, name) == number(block, 2 * i + 1, name));
    }
  }
  CHECK(status == Status::passed);
}

TEST_CASE("pieces of whole trials draw what one piece draws", "[gradients]") {
  // 2^18 numbers a trial and side: four trials fill a piece, the fifth begins the next.
  constexpr Index d_k = Index{1} << 15, seq = 8, trials = 5;
  Generator qk = default_rng(Seed(3)), vg = default_rng(Seed(4));
  const GradientRow row = gradient_rows(qk, vg, d_k, trials, seq).scaled;
  Generator generator = default_rng(Seed(3));
  std::vector<double> numbers(static_cast<std::size_t>(trials * d_k * (1 + seq)));
  generator.fill_standard_normal(numbers);
  CHECK(generator.position() == qk.position());
  std::vector<double> norms;
  for (Index t = 0; t < trials; ++t) {
    std::vector<long double> scores(static_cast<std::size_t>(seq));
    for (Index j = 0; j < seq; ++j) {
      const double* q = numbers.data() + t * d_k;
      const double* k = numbers.data() + trials * d_k + (t * seq + j) * d_k;
      for (Index e = 0; e < d_k; ++e) scores[static_cast<std::size_t>(j)] += static_cast<long double>(q[e]) * k[e];
      scores[static_cast<std::size_t>(j)] /= std::sqrt(static_cast<long double>(d_k));
    }
    norms.push_back(jacobian_size(softmax(scores)).norm);
  }
  CHECK(row.jacobian_norm.mean == Approx(estimate_mean(norms).mean).epsilon(1e-10));
}
