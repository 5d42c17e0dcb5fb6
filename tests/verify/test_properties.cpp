// What is true of attention whatever its numbers are, over random shapes, for the fused, standard and reference algorithms.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "attention/fused.h"
#include "attention/random_problem.h"
#include "attention/reference.h"
#include "attention/standard.h"
#include "catch.h"

using namespace attn;

namespace {

using Options = AttentionOptions<double>;
using Algorithm = std::function<void(const AttentionTensors<double>&, const Options&)>;

// Rounding of float64 for scores and values of ordinary size.
constexpr double rounding = 1e-12;

const std::vector<std::pair<const char*, Algorithm>>& algorithms() {
  static const std::vector<std::pair<const char*, Algorithm>> all = {
      {"fused", [](const auto& tensors, const Options& options) { fused_attention(tensors, options); }},
      {"standard", [](const auto& tensors, const Options& options) { standard_attention(tensors, options); }},
      {"reference", [](const auto& tensors, const Options& options) { reference_attention(tensors, options); }}};
  return all;
}

AttentionShape random_shape(std::mt19937_64& random) {
  const auto size = [&random](Index most) { return 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(most)); };
  AttentionShape shape{size(3), 1, size(3), size(70), size(150), size(40), size(40)};
  shape.heads = shape.kv_heads * size(3);
  return shape;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// Calls body(problem, algorithm, random) for random shapes and every algorithm.
template <class Body>
void for_random_problems(const Body& body) {
  std::mt19937_64 random(31);
  for (std::uint64_t round = 0; round < 12; ++round) {
    const AttentionShape shape = random_shape(random);
    const OwnedProblem<double> problem = random_problem<double>(shape, round + 1);
    INFO("batch " << shape.batch << " heads " << shape.heads << " over " << shape.kv_heads << " queries " << shape.seq_q << " keys "
                  << shape.seq_k << " dims " << shape.head_dim << " " << shape.head_dim_v);
    for (const auto& [name, algorithm] : algorithms()) {
      INFO(name);
      body(problem, algorithm, random);
    }
  }
}

// The rows of every (rows, dim) matrix behind `from` in another order.
std::vector<double> permuted(const std::vector<double>& from, Index dim, const std::vector<Index>& order) {
  std::vector<double> to(from.size());
  const auto rows = static_cast<Index>(order.size());
  const auto size = static_cast<std::size_t>(rows * dim);
  for (std::size_t matrix = 0; matrix < from.size(); matrix += size) {
    for (Index j = 0; j < rows; ++j) {
      const auto source = matrix + static_cast<std::size_t>(order[static_cast<std::size_t>(j)] * dim);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), dim,
                  to.begin() + static_cast<std::ptrdiff_t>(matrix) + static_cast<std::ptrdiff_t>(j * dim));
    }
  }
  return to;
}

}  // namespace

TEST_CASE("keys and values in another order give the same output but for rounding") {
  for_random_problems([](OwnedProblem<double> problem, const Algorithm& algorithm, std::mt19937_64& random) {
    algorithm(problem.tensors(), {});
    std::vector<Index> order(static_cast<std::size_t>(problem.shape.seq_k));
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), random);
    problem.k = permuted(problem.k, problem.shape.head_dim, order);
    problem.v = permuted(problem.v, problem.shape.head_dim_v, order);
    std::vector<double> other(problem.o.size());
    algorithm(problem.tensors_into(other), {});
    CHECK(largest_difference(problem.o, other) < rounding);
  });
}

TEST_CASE("batches and heads do not know of each other") {
  for_random_problems([](OwnedProblem<double> problem, const Algorithm& algorithm, std::mt19937_64&) {
    algorithm(problem.tensors(), {});
    std::vector<double> other(problem.o.size());
    const AttentionTensors<double> tensors = problem.tensors_into(other);
    for (Index b = 0; b < problem.shape.batch; ++b) {
      for (Index h = 0; h < problem.shape.heads; ++h) {
        const Index kv_head = problem.shape.kv_head_of(h);
        algorithm(
            {TensorView<const double>::from_matrix(tensors.q.head(b, h)), TensorView<const double>::from_matrix(tensors.k.head(b, kv_head)),
             TensorView<const double>::from_matrix(tensors.v.head(b, kv_head)), TensorView<double>::from_matrix(tensors.o.head(b, h))},
            {});
      }
    }
    CHECK(largest_difference(problem.o, other) < rounding);
  });
}

TEST_CASE("chunks of queries with their offset equal the whole, causal and with a window") {
  for_random_problems([](OwnedProblem<double> problem, const Algorithm& algorithm, std::mt19937_64& random) {
    Options options;
    options.causal = true;
    options.offset = problem.shape.seq_k - problem.shape.seq_q;
    options.window_left = 20;
    algorithm(problem.tensors(), options);
    std::vector<double> other(problem.o.size());
    const AttentionTensors<double> whole = problem.tensors_into(other);
    const Options at_start = options;
    for (Index first = 0; first < problem.shape.seq_q;) {
      const Index rows = std::min<Index>(1 + static_cast<Index>(random() % 20), problem.shape.seq_q - first);
      AttentionTensors<double> chunk = whole;
      chunk.q.seq = chunk.o.seq = rows;
      chunk.q.data += first * chunk.q.row_stride;
      chunk.o.data += first * chunk.o.row_stride;
      options.offset = at_start.offset + first;
      algorithm(chunk, options);
      first += rows;
    }
    CHECK(largest_difference(problem.o, other) < rounding);
  });
}

TEST_CASE("a constant added to a row of scores changes nothing") {
  for_random_problems([](OwnedProblem<double> problem, const Algorithm& algorithm, std::mt19937_64& random) {
    algorithm(problem.tensors(), {});
    std::vector<double> constants(static_cast<std::size_t>(problem.shape.seq_q));
    for (double& constant : constants) constant = static_cast<double>(random() % 200) - 100;
    Options options;
    options.mask.additive = constants.data();
    options.mask.keys = problem.shape.seq_k;
    options.mask.row_stride = 1;
    options.mask.key_stride = 0;
    std::vector<double> other(problem.o.size());
    algorithm(problem.tensors_into(other), options);
    CHECK(largest_difference(problem.o, other) < rounding);
  });
}

TEST_CASE("fused, standard and reference agree") {
  for_random_problems([](OwnedProblem<double> problem, const Algorithm& algorithm, std::mt19937_64&) {
    Options options;
    options.causal = true;
    options.softcap = 3;
    algorithm(problem.tensors(), options);
    std::vector<double> other(problem.o.size());
    reference_attention(problem.tensors_into(other), options);
    CHECK(largest_difference(problem.o, other) < rounding);
  });
}
