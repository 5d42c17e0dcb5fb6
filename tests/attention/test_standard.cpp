#include "attention/standard.h"

#include <cmath>
#include <limits>
#include <vector>

#include "attention/accuracy.h"
#include "attention/causal_mask.h"
#include "attention/random_problem.h"
#include "attention/reference.h"
#include "catch.h"
#include "machine/allocation.h"
#include "machine/threads.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

template <class T>
void check_accuracy(const AttentionShape& shape, const AttentionOptions<T>& options, double deviation, std::uint64_t seed) {
  CAPTURE(shape.seq_q, shape.seq_k, shape.head_dim, shape.head_dim_v, deviation, seed);
  OwnedProblem<T> problem = random_problem<T>(shape, seed, deviation);
  const Expected<T> expected = expect(problem, options);
  for_each_target([&] {
    standard_attention(problem.tensors(), options);
    CHECK(worst_error(problem.o, expected).of_allowed <= 1);
  });
}

template <class T>
void check_shapes() {
  std::uint64_t seed = 1;
  for (const double deviation : {0.01, 1.0, 5.0}) {
    check_accuracy<T>({2, 4, 2, 33, 65, 16, 24}, {}, deviation, seed++);
    check_accuracy<T>({1, 1, 1, 70, 67, 136, 72}, {}, deviation, seed++);
    check_accuracy<T>({1, 2, 1, 1, 129, 64, 64}, {}, deviation, seed++);
    check_accuracy<T>({1, 1, 1, 5, 1, 1, 1}, {}, deviation, seed++);
    check_accuracy<T>({1, 1, 1, 3, 7, 0, 4}, {}, deviation, seed++);
  }
  for (int modifier = 0; modifier < 5; ++modifier) {
    const AttentionShape shape{2, 4, 2, 19, 45, 16, 8};
    const RandomMask<T> mask(shape, 41, seed, 0.7);
    AttentionOptions<T> options;
    options.mask = modifier < 2 ? mask.view(shape, modifier == 0) : MaskView<T>{};
    options.causal = modifier == 2;
    options.softcap = modifier == 3 ? 2.5 : 0;
    if (modifier == 4) options.window_left = 3, options.window_right = 5, options.softmax_scale = 0.37, options.key_lengths = {45, 20};
    options.offset = 10;
    check_accuracy<T>(shape, options, 1, seed++);
  }
}

// All stages of a problem with every modifier, against the reference in the oracle's type.
template <class T>
void check_stages() {
  const AttentionShape shape{2, 4, 2, 9, 21, 8, 5};
  OwnedProblem<T> problem = random_problem<T>(shape, 3);
  const RandomMask<T> mask(shape, 19, 4, 0.8);
  AttentionOptions<T> options;
  options.softcap = 1.5, options.causal = true, options.batch_offsets = {12, 5}, options.window_left = 9;
  options.key_lengths = {21, 15};
  options.mask = mask.view(shape, false);
  const auto count = static_cast<std::size_t>(shape.batch * shape.heads * shape.seq_q * shape.seq_k);
  std::vector<T> raw(count), capped(count), masked(count), weights(count);
  std::vector<T> lse(static_cast<std::size_t>(shape.batch * shape.heads * shape.seq_q));
  standard_attention(problem.tensors(), options, {raw.data(), capped.data(), masked.data(), weights.data(), lse.data()});
  const Expected<T> oracle = expect(problem, options);
  std::size_t at = 0;
  std::size_t row_number = 0;
  const auto close = [](T found, auto expected) {
    const auto e = static_cast<double>(expected);
    return static_cast<double>(found) == e ||
           std::abs(static_cast<double>(found) - e) <= 20 * std::numeric_limits<T>::epsilon() * (1 + std::abs(e));
  };
  for (const auto& row : oracle.rows) {
    CHECK(close(lse[row_number++], row.lse));
    for (std::size_t j = 0; j < row.raw.size(); ++j, ++at) {
      CHECK(close(raw[at], row.raw[j]));
      CHECK(close(capped[at], row.capped[j]));
      CHECK(close(masked[at], row.masked[j]));
      CHECK(close(weights[at], row.weights[j]));
    }
  }
}

}  // namespace

TEST_CASE("standard attention is as accurate as the norms of its inputs allow") {
  check_shapes<float>();
  check_shapes<double>();
}

TEST_CASE("standard attention hands out its scores at every stage, and lse") {
  check_stages<float>();
  check_stages<double>();
}

TEST_CASE("standard attention, one head with weights") {
  const Index seq = 6;
  OwnedProblem<double> problem = random_problem<double>({1, 1, 1, seq, seq, 8, 3}, 11);
  const MatrixView<const double> q(problem.q.data(), seq, 8);
  const MatrixView<const double> k(problem.k.data(), seq, 8);
  const MatrixView<const double> v(problem.v.data(), seq, 3);
  AttentionOptions<double> options;
  options.causal = true;
  const HeadAttention<double> head = standard_attention(q, k, v, options);
  const auto oracle = oracle_head(problem.tensors(), options, 0, 0);
  for (Index i = 0; i < seq; ++i) {
    const auto& row = oracle[static_cast<std::size_t>(i)];
    for (Index j = 0; j < seq; ++j) {
      CHECK(head.weights(i, j) == Approx(static_cast<double>(row.weights[static_cast<std::size_t>(j)])).margin(1e-300).epsilon(1e-14));
      if (j > i) CHECK(head.weights(i, j) == 0);
    }
    for (Index x = 0; x < 3; ++x)
      CHECK(head.output(i, x) == Approx(static_cast<double>(row.output[static_cast<std::size_t>(x)])).epsilon(1e-13));
  }
}

TEST_CASE("standard attention: masked NaN goes nowhere, visible NaN to its rows, and rows without keys are zeros") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const AttentionShape shape{1, 1, 1, 8, 8, 4, 4};
  OwnedProblem<float> problem = random_problem<float>(shape, 5);
  AttentionOptions<float> options;
  options.causal = true;
  options.offset = -2;
  problem.v[3 * 4 + 1] = nan;
  problem.k[4 * 4] = nan;
  std::vector<float> lse(8);
  StandardOutputs<float> outputs;
  outputs.lse = lse.data();
  standard_attention(problem.tensors(), options, outputs);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(std::isnan(problem.o[i * 4]) == (i >= 6));
    CHECK(std::isnan(problem.o[i * 4 + 1]) == (i >= 5));
    if (i < 2) CHECK(problem.o[i * 4] == 0);
    CHECK((lse[i] == -std::numeric_limits<float>::infinity()) == (i < 2));
  }
}

TEST_CASE("standard attention is the same to the bit on any number of threads, for heads small and large") {
  for (const AttentionShape& shape : {AttentionShape{2, 3, 1, 40, 50, 16, 16}, AttentionShape{1, 2, 2, 530, 520, 8, 8}}) {
    OwnedProblem<float> problem = random_problem<float>(shape, 6);
    std::vector<std::vector<float>> outputs;
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      standard_attention(problem.tensors());
      outputs.push_back(problem.o);
    }
    set_threads(default_threads());
    CHECK(outputs[0] == outputs[1]);
    CHECK(outputs[0] == outputs[2]);
  }
}

TEST_CASE("standard attention works in the memory that it is given, whatever is in it, and takes none for the scores") {
  for (const AttentionShape& shape : {AttentionShape{2, 3, 1, 40, 50, 16, 16}, AttentionShape{1, 2, 2, 530, 520, 8, 8}}) {
    OwnedProblem<float> problem = random_problem<float>(shape, 6);
    AttentionOptions<float> options;
    options.causal = true;
    standard_attention(problem.tensors(), options);
    const std::vector<float> expected = problem.o;
    std::vector<float> scores(static_cast<std::size_t>(shape.seq_q * shape.seq_k), std::numeric_limits<float>::quiet_NaN());
    std::fill(problem.o.begin(), problem.o.end(), 0.0F);
    StandardOutputs<float> outputs;
    outputs.scores = scores.data();
    const std::size_t before = allocated_bytes();
    reset_allocation_high_water();
    standard_attention(problem.tensors(), options, outputs);
    CHECK(problem.o == expected);
    CHECK(standard_scores_elements(shape) == (shape.seq_q > 100 ? shape.seq_q * shape.seq_k : 0));
    if (shape.seq_q > 100) CHECK(allocation_high_water_bytes() - before < scores.size() * sizeof(float) / 2);
  }
}

TEST_CASE("standard attention reads and writes tensors in any layout") {
  const AttentionShape shape{2, 4, 2, 7, 9, 8, 6};
  OwnedProblem<float> problem = random_problem<float>(shape, 8);
  standard_attention(problem.tensors());
  const std::vector<float> expected = problem.o;
  // The same numbers as (batch, seq, heads, dim).
  const auto transposed = [](TensorView<const float> from, std::vector<float>& to) {
    to.resize(static_cast<std::size_t>(from.batch * from.heads * from.seq * from.dim));
    const auto view = TensorView<float>::nhd(to.data(), from.batch, from.heads, from.seq, from.dim);
    for (Index b = 0; b < from.batch; ++b) {
      for (Index h = 0; h < from.heads; ++h) {
        for (Index i = 0; i < from.seq; ++i) std::copy_n(from.head(b, h).row(i), from.dim, view.head(b, h).row(i));
      }
    }
    return view;
  };
  std::vector<float> q, k, v;
  std::vector<float> o(problem.o.size());
  const AttentionTensors<float> tensors = problem.tensors();
  const AttentionTensors<float> nhd{transposed(tensors.q, q), transposed(tensors.k, k), transposed(tensors.v, v),
                                    TensorView<float>::nhd(o.data(), 2, 4, 7, 6)};
  standard_attention(nhd);
  std::vector<float> back;
  for (Index b = 0; b < 2; ++b) {
    for (Index h = 0; h < 4; ++h) {
      for (Index i = 0; i < 7; ++i) back.insert(back.end(), nhd.o.head(b, h).row(i), nhd.o.head(b, h).row(i) + 6);
    }
  }
  CHECK(back == expected);
}

TEST_CASE("the causal mask is a lower triangle, moved by the offset") {
  const Matrix<double> mask = causal_mask<double>(3, 4, 1);
  const Matrix<double> ones(3, 4, 1.0);
  const Matrix<double> masked = masked_scores<double>(ones.view(), mask.view());
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) {
      CHECK(mask(i, j) == (j <= i + 1 ? 1 : 0));
      CHECK(masked(i, j) == (j <= i + 1 ? 1 : -std::numeric_limits<double>::infinity()));
    }
  }
  CHECK_THROWS_AS(masked_scores<double>(ones.view(), Matrix<double>(3, 3, 1.0).view()), UsageError);
}
