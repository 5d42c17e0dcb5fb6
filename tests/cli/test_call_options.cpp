// The options of `attn run` and `attn check`, each against the same call put in another way.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "cli/tensor_files.h"

using namespace attn;
using Json = nlohmann::json;

namespace {

// (a, b, c, d) to (a, c, b, d), as (batch, heads, seq, dim) to (batch, seq, heads, dim).
Tensor transposed(const Tensor& tensor) {
  const std::vector<Index>& s = tensor.shape();
  Tensor result(Dtype::f32, {s[0], s[2], s[1], s[3]});
  for (Index at = 0; at < tensor.size(); ++at) {
    const Index x = at % s[3], i = at / s[3] % s[2], h = at / (s[3] * s[2]) % s[1], b = at / (s[3] * s[2] * s[1]);
    result.as<float>()[static_cast<std::size_t>(((b * s[2] + i) * s[1] + h) * s[3] + x)] = tensor.as<float>()[static_cast<std::size_t>(at)];
  }
  return result;
}

// The same elements in another shape.
Tensor reshaped(const Tensor& tensor, const std::vector<Index>& shape) {
  Tensor result(Dtype::f32, shape);
  std::copy_n(tensor.as<float>().data(), tensor.size(), result.as<float>().data());
  return result;
}

// q, k and v in the other two layouts.
void add_layouts(const TensorFiles& files) {
  for (const std::string name : {"q", "k", "v"}) {
    const Tensor nhd = transposed(files.read(name + ".npy"));
    files.write(name + "_nhd.npy", nhd);
    files.write(name + "_packed.npy", reshaped(nhd, {nhd.shape()[0], nhd.shape()[1], nhd.shape()[2] * nhd.shape()[3]}));
  }
}

const std::vector<std::string> packed_heads = {"--layout", "packed", "--num-heads", "4", "--num-kv-heads", "2"};

}  // namespace

TEST_CASE("layouts: the same tensors with heads outside, heads inside, and packed give the same output in their own layout") {
  const TensorFiles files;
  add_layouts(files);
  const std::vector<std::string> causal = {"--causal", "--align", "bottom-right"};
  run_into(files, "o.npy", causal);
  run_into(files, "o_nhd.npy", causal + std::vector<std::string>{"--layout", "nhd"}, "_nhd");
  run_into(files, "o_packed.npy", causal + packed_heads, "_packed");
  const Tensor expected = transposed(files.read("o.npy"));
  files.write("expected_nhd.npy", expected);
  files.write("expected_packed.npy", reshaped(expected, {2, 9, 32}));
  CHECK(same_bytes(files, "o_nhd.npy", "expected_nhd.npy"));
  CHECK(same_bytes(files, "o_packed.npy", "expected_packed.npy"));
  // 4 heads over 4, or 2 over 2, are other calls, if they are calls at all.
  CHECK(files.run({"--layout", "packed", "--num-heads", "4"}, "_packed").exit_code == 2);
  CHECK(files.run({"--layout", "packed", "--num-heads", "3", "--num-kv-heads", "1"}, "_packed").exit_code == 2);
  CHECK(files.run({"--layout", "packed"}, "_packed").exit_code == 2);
}

TEST_CASE("layouts: check reads the output in the queries' layout and names its elements there") {
  const TensorFiles files;
  add_layouts(files);
  run_into(files, "o_packed.npy", packed_heads, "_packed");
  CHECK(files.check(packed_heads + std::vector<std::string>{"--expect-output", files.path("o_packed.npy")}, "_packed").exit_code == 0);
  Tensor broken = files.read("o_packed.npy");
  broken.as<float>()[(1 * 9 + 3) * 32 + 2 * 8 + 5] += 1;  // batch 1, query 3, head 2, column 5
  files.write("broken.npy", broken);
  const Outcome outcome = files.check(packed_heads + std::vector<std::string>{"--expect-output", files.path("broken.npy")}, "_packed");
  INFO(outcome.out);
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.out, "1 of 576 elements differ by more than allowed, in 1 of 72 rows"));
  CHECK(contains(outcome.out, "\n(1, 3, 21) "));
}

namespace {

// Attention of one head, the output's sums kept in T, a key at a time; everything else in double.
template <class T>
Tensor with_narrow_sums(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index rows = q.shape()[0], keys = k.shape()[0], dim = q.shape()[1], width = v.shape()[1];
  const auto at = [](const Tensor& tensor, Index i, Index x) {
    return static_cast<double>(static_cast<float>(tensor.as<T>()[static_cast<std::size_t>(i * tensor.shape()[1] + x)]));
  };
  Tensor output(dtype_of<T>(), {rows, width});
  for (Index i = 0; i < rows; ++i) {
    std::vector<double> weights;
    double sum = 0;
    for (Index j = 0; j < keys; ++j) {
      double score = 0;
      for (Index x = 0; x < dim; ++x) score += at(q, i, x) * at(k, j, x);
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
      sum += weights.back();
    }
    for (Index x = 0; x < width; ++x) {
      T total(0.0F);
      for (Index j = 0; j < keys; ++j)
        total = T(
            static_cast<float>(static_cast<double>(static_cast<float>(total)) + weights[static_cast<std::size_t>(j)] / sum * at(v, j, x)));
      output.as<T>()[static_cast<std::size_t>(i * width + x)] = total;
    }
  }
  return output;
}

template <class T>
void check_narrow_sums(const char* type, const char* name) {
  const TensorFiles files;
  files.save("q16.npy", {5, 16}, 4, dtype_of<T>());
  files.save("k16.npy", {300, 16}, 5, dtype_of<T>());
  files.save("v16.npy", {300, 8}, 6, dtype_of<T>());
  files.write("o.npy", with_narrow_sums<T>(files.read("q16.npy"), files.read("k16.npy"), files.read("v16.npy")));
  const Outcome without = files.check({"--expect-output", files.path("o.npy")}, "16");
  INFO(without.out);
  CHECK(without.exit_code == 1);
  CHECK(contains(without.out, "matches no known mistake"));
  const Outcome with = files.check({"--expect-output", files.path("o.npy"), "--accumulate", type}, "16");
  INFO(with.out);
  CHECK(with.exit_code == 0);
  CHECK(contains(with.out, "for sums kept in " + std::string(name) + ", "));
}

}  // namespace

TEST_CASE("sums kept in 16 bits fail, unless that is said") {
  check_narrow_sums<Float16>("f16", "float16");
  check_narrow_sums<BFloat16>("bf16", "bfloat16");
  CHECK(TensorFiles().check({"--expect-output", "x", "--accumulate", "f32"}).exit_code == 2);
}

TEST_CASE("a check that fails keeps inputs, expected and found, with which it fails again; one that passes keeps nothing") {
  const TensorFiles files;
  write_mask(files, "mask.npy", [](Index i, Index j) { return j <= i + 3; });
  const std::vector<std::string> masked = {"--mask", files.path("mask.npy")};
  run_into(files, "o.npy", masked);
  run_into(files, "wrong.npy", {});
  const std::vector<std::string> keeping = {"--save-failing", files.path("failing/here")};
  CHECK(files.check(masked + keeping + std::vector<std::string>{"--expect-output", files.path("o.npy")}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(files.path("failing/here")));
  const Outcome outcome = files.check(masked + keeping + std::vector<std::string>{"--expect-output", files.path("wrong.npy")});
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.out, "matches mask left out"));
  for (const char* name : {"q.npy", "k.npy", "v.npy", "mask.npy"}) CHECK(same_bytes(files, std::string("failing/here/") + name, name));
  CHECK(same_bytes(files, "failing/here/found.npy", "wrong.npy"));
  CHECK(run_attn({"diff", files.path("o.npy"), files.path("failing/here/expected.npy"), "--rtol", "1e-5", "--atol", "1e-6"}).exit_code ==
        0);
  const auto kept = [&](const std::string& name) { return files.path("failing/here/" + name + ".npy"); };
  const Outcome again =
      run_attn({"check", "--q", kept("q"), "--k", kept("k"), "--v", kept("v"), "--mask", kept("mask"), "--expect-output", kept("found")});
  CHECK(again.out == outcome.out);
  const Outcome nowhere = files.check({"--expect-output", files.path("o.npy"), "--save-failing", files.path("q.npy/folder")});
  CHECK(nowhere.exit_code == 3);
  CHECK(nowhere.out.empty());
}

TEST_CASE("strict: what is marginal fails, and what these inputs cannot show; otherwise neither does") {
  const TensorFiles files;
  run_into(files, "o.npy", {});
  const std::vector<std::string> given = {"--expect-output", files.path("o.npy")};
  const std::vector<std::string> strict = {"--strict"};
  const Outcome all_shown = files.check(given + strict);
  INFO(all_shown.out);
  CHECK(all_shown.exit_code == 0);
  CHECK(contains(all_shown.out, " known mistakes would show\n"));

  // Three quarters of what is allowed for the element that is worst.
  const Json worst = Json::parse(files.check(given + std::vector<std::string>{"--json"}).out)["results"][0]["worst"][0];
  Tensor marginal = files.read("o.npy");
  const std::vector<Index> at = worst["index"];
  marginal.as<float>()[static_cast<std::size_t>(((at[0] * 4 + at[1]) * 9 + at[2]) * 8 + at[3])] =
      static_cast<float>(worst["expected"].get<double>() + 0.75 * worst["allowed"].get<double>());
  files.write("marginal.npy", marginal);
  const std::vector<std::string> close = {"--expect-output", files.path("marginal.npy")};
  CHECK(files.check(close).exit_code == 0);
  CHECK(files.check(close).out.starts_with("MARGINAL, "));
  CHECK(files.check(close + strict).exit_code == 1);

  // As many keys as queries: the two causal alignments are one, which is no blindness; equal values show next to nothing.
  Tensor equal(Dtype::f32, {2, 2, 13, 8});
  std::fill_n(equal.as<float>().data(), equal.size(), 1.0F);
  files.write("v.npy", equal);
  run_into(files, "equal.npy", {});
  const std::vector<std::string> blind = {"--expect-output", files.path("equal.npy")};
  const Outcome passed = files.check(blind);
  CHECK(passed.exit_code == 0);
  CHECK(contains(passed.out, "blind to:\n"));
  CHECK(contains(passed.out, "  last key dropped (to see it, "));
  CHECK(files.check(blind + strict).exit_code == 1);
}
