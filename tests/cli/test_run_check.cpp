// `attn run`, `attn check` and `attn diff` on files.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "cli/check_refused.h"
#include "cli/tensor_files.h"
#include "io/read_file.h"

using namespace attn;

TEST_CASE("what run saves, check passes: all algorithms and layouts, causal and with a past") {
  const TensorFiles files;
  for (const char* algorithm : {"fused", "standard", "reference"}) {
    INFO(algorithm);
    const std::vector<std::string> call = {"--causal", "--align", "bottom-right"};
    CHECK(files.run({"--causal", "--align", "bottom-right", "--algorithm", algorithm, "--save-output", files.path("o.npy")}).exit_code ==
          0);
    const Outcome right = files.check({"--causal", "--align", "bottom-right", "--expect-output", files.path("o.npy")});
    INFO(right.out);
    CHECK(right.exit_code == 0);
    CHECK(right.out.starts_with("PASS"));
    const Outcome wrong = files.check({"--causal", "--align", "top-left", "--expect-output", files.path("o.npy")});
    CHECK(wrong.exit_code == 1);
    CHECK(wrong.out.starts_with("FAIL"));
    CHECK(contains(wrong.out, "matches bottom-right causal alignment"));
  }
}

TEST_CASE("run saves weights, scores and lse, which only some algorithms have") {
  const TensorFiles files;
  const Outcome outcome = files.run({"--save-weights", files.path("w.npy"), "--save-lse", files.path("l.npy"), "--save-scores",
                                     files.path("s.npy"), "--scores-stage", "softmax", "--json"});
  REQUIRE(outcome.exit_code == 0);
  CHECK(nlohmann::json::parse(outcome.out)["results"][0]["algorithm"] == "standard");
  CHECK(read_npy_file(files.path("w.npy")).shape() == std::vector<Index>{2, 4, 9, 13});
  CHECK(read_npy_file(files.path("l.npy")).shape() == std::vector<Index>{2, 4, 9});
  CHECK(run_attn({"diff", files.path("w.npy"), files.path("s.npy")}).exit_code == 0);
  check_refused(files.run({"--algorithm", "fused", "--save-weights", files.path("w.npy")}), 2, {"--algorithm"});
}

TEST_CASE("a row of run or check holds the shell's command that computes it again") {
  const TensorFiles files;
  files.save("the q's $HOME.npy", {2, 4, 9, 16}, 1);
  const std::vector<std::string> tensors = {"--q", files.path("the q's $HOME.npy"), "--k", files.path("k.npy"), "--v", files.path("v.npy")};
  const std::vector<std::string> shared = {"--causal", "--q-offset", "-2", "--softcap", "5", "--json"};
  REQUIRE(run_attn(std::vector<std::string>{"run"} + tensors + shared + std::vector<std::string>{"--save-output", files.path("o.npy")})
              .exit_code == 0);
  for (const std::vector<std::string>& own : {std::vector<std::string>{"run", "--save-weights", files.path("w.npy")},
                                              std::vector<std::string>{"check", "--expect-output", files.path("o.npy"), "--all"}}) {
    const nlohmann::json row = nlohmann::json::parse(run_attn(own + tensors + shared).out)["results"][0];
    const std::string repro = row["repro"];
    INFO(repro);
    REQUIRE(repro.starts_with("attn "));
    REQUIRE(std::system(("'" ATTN_PROGRAM "'" + repro.substr(4) + " --json > '" + files.path("again.json") + "'").c_str()) == 0);
    CHECK(nlohmann::json::parse(read_file(files.path("again.json")))["results"][0] == row);
    CHECK_FALSE(contains(repro, "w.npy"));
  }
}

TEST_CASE("what does not fit is one line that names both files and both shapes") {
  const TensorFiles files;
  files.save("other.npy", {2, 2, 12, 16}, 1);
  check_refused(run_attn({"run", "--q", files.path("q.npy"), "--k", files.path("k.npy"), "--v", files.path("other.npy")}), 2,
                {"other.npy (2, 2, 12, 16): keys: expected the same, found 13 and 12"});
  check_refused(files.run({"--mask", files.path("other.npy")}), 2, {"(2, 2, 12, 16)"});
  check_refused(files.run({"--causal"}), 2, {"--align"});
  check_refused(files.run({"--align", "top-left"}), 2, {"--align"});
  check_refused(files.run({"--num-heads", "4"}), 2, {"--num-heads"});
  check_refused(files.run({"--q-offset", "4"}), 2, {"--q-offset"});
  check_refused(files.run({"--scores-stage", "raw"}), 2, {"--scores-stage"});
  check_refused(files.run({"--save-present-k", files.path("p.npy")}), 2, {"--past-k"});
  check_refused(files.run({"--causal", "--align", "top-left", "--q-offset", "3"}), 2, {"--align"});
  check_refused(files.check({"--expect-output", files.path("q.npy")}), 2, {"expected (2, 4, 9, 8), found (2, 4, 9, 16)"});
  check_refused(files.run({"--save-output", files.path("no/such/o.npy")}), 3, {"o.npy"});
  Tensor integers(Dtype::i64, {13});
  std::fill_n(integers.as<std::int64_t>().data(), 13, 1);
  files.write("integers.npy", integers);
  check_refused(files.run({"--mask", files.path("integers.npy")}), 2, {"mask.astype(bool)"});
}

TEST_CASE("diff: shapes, ulps and tolerances") {
  const TensorFiles files;
  files.save("half.npy", {2, 4, 9, 16}, 1, Dtype::f16);
  CHECK(run_attn({"diff", files.path("q.npy"), files.path("q.npy")}).exit_code == 0);
  CHECK(run_attn({"diff", files.path("q.npy"), files.path("half.npy")}).exit_code == 0);  // counted in float16's ulps
  CHECK(run_attn({"diff", files.path("q.npy"), files.path("v.npy")}).exit_code == 1);
  Tensor a(Dtype::f32, {2});
  a.as<float>()[0] = 1;
  a.as<float>()[1] = -0.0F;
  Tensor b = a.converted(Dtype::f32);
  b.as<float>()[0] = 1 + 3 * 0x1p-23F;
  b.as<float>()[1] = 0;
  files.write("a.npy", a);
  files.write("b.npy", b);
  CHECK(run_attn({"diff", files.path("a.npy"), files.path("b.npy"), "--ulp", "3"}).exit_code == 0);
  CHECK(run_attn({"diff", files.path("a.npy"), files.path("b.npy"), "--ulp", "2"}).exit_code == 1);
  CHECK(run_attn({"diff", files.path("a.npy"), files.path("b.npy"), "--rtol", "1e-6"}).exit_code == 0);
  check_refused(run_attn({"diff", files.path("a.npy"), files.path("b.npy"), "--rtol", "1e-6", "--ulp", "1"}), 2, {"--ulp"});
}

TEST_CASE("diff: distances of all orders of magnitude are counted, the largest there are included") {
  const TensorFiles files;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> to = {0, 5e-324, 1e-300, 1, -inf, inf};
  Tensor a(Dtype::f64, {static_cast<Index>(to.size())});
  Tensor b(Dtype::f64, {static_cast<Index>(to.size())});
  std::fill_n(a.as<double>().data(), to.size(), inf);
  std::copy(to.begin(), to.end(), b.as<double>().data());
  files.write("a.npy", a);
  files.write("b.npy", b);
  const Outcome outcome = run_attn({"diff", files.path("a.npy"), files.path("b.npy"), "--json"});
  const nlohmann::json histogram = nlohmann::json::parse(outcome.out)["results"][0]["ulp_histogram"];
  // +inf lies 0x7ff0000000000000 numbers above 0, and twice as many above -inf: more than 2^63.
  CHECK(histogram["9223372036854775809 to 18446744073709551615"] == 1);
  CHECK(histogram["4611686018427387905 to 9223372036854775808"] == 3);
  std::int64_t counted = 0;
  for (const auto& [range, count] : histogram.items()) counted += count.get<std::int64_t>();
  CHECK(counted == 6);
}

TEST_CASE("diff: no finite number is within a tolerance of an infinity or of NaN") {
  const TensorFiles files;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> numbers = {1, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Tensor tensor(Dtype::f32, {1});
    tensor.as<float>()[0] = numbers[i];
    files.write("n" + std::to_string(i) + ".npy", tensor);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      INFO(numbers[i] << " and " << numbers[j]);
      const auto path = [&](std::size_t at) { return files.path("n" + std::to_string(at) + ".npy"); };
      CHECK(run_attn({"diff", path(i), path(j), "--rtol", "0.5", "--atol", "100"}).exit_code == (i == j ? 0 : 1));
    }
  }
}
