// The judge: right outputs pass, each known mistake fails and is named, NaN is never overlooked.
#include "verify/judge.h"

#include <cmath>
#include <limits>

#include "attention/random_problem.h"
#include "attention/reference.h"
#include "attention/standard.h"
#include "catch.h"
#include "verify/known_mistakes.h"

using namespace attn;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double as_float(double value) { return static_cast<float>(value); }

// Tensors (2, 4 over 2, 7, 11, 8) of normal numbers, and the standard algorithm's output as float64.
class Fixture {
 public:
  explicit Fixture(AttentionOptions<float> given = {}) : options(std::move(given)) {
    std::mt19937_64 generator(5);
    std::normal_distribution<float> normal;
    for (Matrix<float>* matrix : {&q_, &k_, &v_}) {
      for (Index at = 0; at < matrix->size(); ++at) matrix->data()[at] = normal(generator);
    }
  }

  AttentionTensors<float> tensors() {
    return {TensorView<const float>::hnd(q_.data(), 2, 4, 7, 8), TensorView<const float>::hnd(k_.data(), 2, 2, 11, 8),
            TensorView<const float>::hnd(v_.data(), 2, 2, 11, 5), TensorView<float>::hnd(o_.data(), 2, 4, 7, 5)};
  }

  // The output with other options than those it is judged by.
  Matrix<double> output(const AttentionOptions<float>& others) {
    standard_attention(tensors(), others);
    Matrix<double> result(o_.rows(), o_.cols());
    std::copy_n(o_.data(), o_.size(), result.data());
    return result;
  }

  Judgement judge(const Matrix<double>& found) {
    JudgeSettings settings;
    settings.tolerance = tolerance_of<float>();
    settings.round = as_float;
    const AttentionShape shape = shape_of(tensors());
    return attn::judge(tensors(), options, TensorView<const double>::hnd(found.data(), 2, 4, 7, 5), rows_to_judge(shape, true, 0),
                       settings);
  }

  float& value(Index b, Index h, Index j, Index x) { return v_.data()[((b * 2 + h) * 11 + j) * 5 + x]; }

  AttentionOptions<float> options;

 private:
  Matrix<float> q_{2 * 4 * 7, 8}, k_{2 * 2 * 11, 8}, v_{2 * 2 * 11, 5}, o_{2 * 4 * 7, 5};
};

std::vector<std::string> names(const std::vector<Match>& matches) {
  std::vector<std::string> result;
  for (const Match& match : matches) result.push_back(match.name);
  return result;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

AttentionOptions<float> causal(Index offset) {
  AttentionOptions<float> options;
  options.causal = true;
  options.offset = offset;
  return options;
}

}  // namespace

TEST_CASE("a right output passes, and the worst element's share is below 1") {
  for (const auto& options : {AttentionOptions<float>{}, causal(4), causal(0), causal(-3)}) {
    Fixture fixture(options);
    const Judgement judgement = fixture.judge(fixture.output(options));
    CHECK(judgement.beyond == 0);
    CHECK(judgement.elements == 2 * 4 * 7 * 5);
    CHECK(judgement.largest_share < 1);
    CHECK(judgement.matches.empty());
  }
}

TEST_CASE("wrong options are named by the mistake that they are") {
  const auto check = [](AttentionOptions<float> right, AttentionOptions<float> wrong, const std::string& name) {
    INFO(name);
    Fixture fixture(right);
    const Judgement judgement = fixture.judge(fixture.output(wrong));
    CHECK(judgement.beyond > 0);
    CHECK(contains(names(judgement.matches), name));
  };
  check(causal(4), causal(0), "top-left causal alignment");
  check(causal(0), causal(4), "bottom-right causal alignment");
  check(causal(4), causal(5), "causal mask off by one, a key too many");
  check(causal(4), causal(3), "causal mask off by one, a key too few");
  check(causal(4), {}, "causality left out");
  check({}, causal(0), "causal although not asked for");
  AttentionOptions<float> unscaled;
  unscaled.softmax_scale = 1;
  check({}, unscaled, "unscaled scores");
  AttentionOptions<float> capped;
  capped.softcap = 0.5;
  check(capped, {}, "softcap left out");
  AttentionOptions<float> padded;
  padded.key_lengths = {6, 9};
  check(padded, {}, "padding takes part");
  AttentionOptions<float> window;
  window.window_left = 2;
  window.offset = 4;
  check(window, {}, "window left out");
}

TEST_CASE("heads tiled instead of repeated, and the row it starts from") {
  Fixture fixture;
  Matrix<double> found = fixture.output({});
  // Heads 1 and 2 of 4 over 2 are those that tiling gives the other key and value head.
  AttentionTensors<float> tensors = fixture.tensors();
  for (Index b = 0; b < 2; ++b) {
    for (const Index h : {1, 2}) {
      AttentionTensors<float> swapped = tensors;
      const Index shift = h == 1 ? 1 : -1;
      swapped.k.data += shift * swapped.k.head_stride;
      swapped.v.data += shift * swapped.v.head_stride;
      for (Index i = 0; i < 7; ++i) {
        const auto row = reference_row<double, float>(shape_of(tensors), swapped.q, swapped.k, swapped.v, {}, b, h, i);
        for (Index x = 0; x < 5; ++x) found((b * 4 + h) * 7 + i, x) = as_float(row.output[static_cast<std::size_t>(x)]);
      }
    }
  }
  const Judgement judgement = fixture.judge(found);
  REQUIRE(names(judgement.matches) == std::vector<std::string>{"heads tiled instead of repeated"});
  CHECK(judgement.matches[0].first.h == 1);
  CHECK(judgement.matches[0].first.i == 0);
  CHECK(judgement.wrong_rows == 2 * 2 * 7);
}

TEST_CASE("NaN fails, unless the oracle has it or a masked key's NaN explains it") {
  Fixture fixture(causal(0));
  Matrix<double> found = fixture.output(fixture.options);
  found(3, 2) = not_a_number;
  Judgement judgement = fixture.judge(found);
  CHECK(judgement.beyond == 1);
  REQUIRE(judgement.nan);
  CHECK(judgement.nan->i == 3);
  CHECK(judgement.nan->x == 2);

  // Key 10 of head 0 is not visible to query 3.
  fixture.value(0, 0, 10, 2) = static_cast<float>(not_a_number);
  judgement = fixture.judge(found);
  CHECK(judgement.beyond == 0);
  CHECK(judgement.from_masked == 1);

  // Key 0 is: there the oracle has NaN in column 1 of every row of the two query heads, and numbers are wrong.
  fixture.value(0, 0, 0, 1) = static_cast<float>(not_a_number);
  CHECK(fixture.judge(found).beyond == 2 * 7);

  // A visible infinity explains no NaN: column 4 is infinite there.
  fixture.value(0, 0, 0, 4) = std::numeric_limits<float>::infinity();
  found(3, 4) = not_a_number;
  CHECK(fixture.judge(found).beyond == 2 * 2 * 7);
}

TEST_CASE("inputs that do not tell mistakes apart are said to be blind") {
  Fixture fixture;
  for (Index b = 0; b < 2; ++b) {
    for (Index h = 0; h < 2; ++h) {
      for (Index j = 0; j < 11; ++j) {
        for (Index x = 0; x < 5; ++x) fixture.value(b, h, j, x) = 1;
      }
    }
  }
  const Judgement judgement = fixture.judge(fixture.output({}));
  CHECK(judgement.beyond == 0);
  for (const MistakeVerdict& mistake : judgement.mistakes) {
    INFO(mistake.name);
    const bool changes_sums = mistake.name == "zeros" || mistake.name.find("not ") != std::string::npos;
    if (changes_sums) continue;
    CHECK(mistake.sight == MistakeVerdict::Sight::blind);
  }
}

TEST_CASE("large inputs are sampled: at least 64 rows, with the first, the last and edges of tiles") {
  const AttentionShape large{1, 64, 64, 100000, 100000, 64, 64};
  const std::vector<Index> rows = rows_to_judge(large, false, 1);
  CHECK(rows.size() == 64);
  for (const Index i : {0, 63, 64, 127, 128, 99936, 99999}) CHECK(std::binary_search(rows.begin(), rows.end(), i));
  CHECK(rows == rows_to_judge(large, false, 1));
  CHECK(rows != rows_to_judge(large, false, 2));
  CHECK(rows_to_judge({1, 1, 1, 1000, 1000, 64, 64}, false, 1).size() == 1000);
}
