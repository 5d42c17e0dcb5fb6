// The options of `attn run` and `attn check`, each against the same call put in another way.
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "cli/tensor_files.h"
#include "io/read_file.h"

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

std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Runs with `options` into `name`, by the reference: two ways of saying the same give the same bytes.
void run_into(const TensorFiles& files, const std::string& name, const std::vector<std::string>& options, const std::string& suffix = "") {
  const Outcome outcome =
      files.run(options + std::vector<std::string>{"--algorithm", "reference", "--save-output", files.path(name)}, suffix);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
}

bool same_bytes(const TensorFiles& files, const std::string& a, const std::string& b) {
  return read_file(files.path(a)) == read_file(files.path(b));
}

// A bool mask (seq_q, seq_k) of what `visible` says.
void write_mask(const TensorFiles& files, const std::string& name, const std::function<bool(Index i, Index j)>& visible) {
  Tensor mask(Dtype::boolean, {9, 13});
  for (Index at = 0; at < mask.size(); ++at) static_cast<bool*>(mask.data())[at] = visible(at / 13, at % 13);
  files.write(name, mask);
}

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

TEST_CASE("a mask is broadcast along any of its axes, as the full mask that says the same") {
  const TensorFiles files;
  const std::vector<Index> full = {2, 4, 9, 13};
  for (const Dtype dtype : {Dtype::boolean, Dtype::f32}) {
    for (unsigned axes = 0; axes < 16; ++axes) {  // bit d: axis d has its whole size, else 1
      std::vector<Index> shape = {1, 1, 1, 1};
      for (unsigned d = 0; d < 4; ++d) {
        if ((axes >> d & 1) != 0) shape[d] = full[d];
      }
      std::mt19937 generator(axes);
      Tensor small(dtype, shape);
      for (Index at = 0; at < small.size(); ++at) {
        const bool low = generator() % 4 == 0;
        if (dtype == Dtype::boolean) static_cast<bool*>(small.data())[at] = !low || at == 0;
        if (dtype == Dtype::f32) small.as<float>()[static_cast<std::size_t>(at)] = low ? -2.5F : 0.5F;
      }
      Tensor large(dtype, full);
      for (Index at = 0; at < large.size(); ++at) {
        const Index place[] = {at / (4 * 9 * 13), at / (9 * 13) % 4, at / 13 % 9, at % 13};
        Index from = 0;
        for (unsigned d = 0; d < 4; ++d) from = from * shape[d] + (shape[d] == 1 ? 0 : place[d]);
        if (dtype == Dtype::boolean) static_cast<bool*>(large.data())[at] = static_cast<const bool*>(small.data())[from];
        if (dtype == Dtype::f32) large.as<float>()[static_cast<std::size_t>(at)] = small.as<float>()[static_cast<std::size_t>(from)];
      }
      INFO("axes " << axes << " of " << dtype_name(dtype));
      files.write("small.npy", small);
      files.write("large.npy", large);
      run_into(files, "o_small.npy", {"--mask", files.path("small.npy")});
      run_into(files, "o_large.npy", {"--mask", files.path("large.npy")});
      CHECK(same_bytes(files, "o_small.npy", "o_large.npy"));
    }
  }
}

TEST_CASE("windows: keys before and after a query's own position, as the mask that says the same") {
  const TensorFiles files;
  const Index far = 100;
  struct Case {
    std::vector<std::string> options;
    Index offset, left, right;
  };
  const std::vector<Case> cases = {
      {{"--window", "3,2", "--align", "top-left"}, 0, 3, 2},       {{"--window", "3,2", "--align", "bottom-right"}, 4, 3, 2},
      {{"--window", "0,0", "--q-offset", "2"}, 2, 0, 0},           {{"--window", "unlimited,1", "--q-offset", "-3"}, -3, far, 1},
      {{"--window", "2,unlimited", "--q-offset", "1"}, 1, 2, far}, {{"--window", "4,3", "--causal", "--align", "bottom-right"}, 4, 4, 0}};
  for (const Case& c : cases) {
    INFO(c.options[1] << " offset " << c.offset);
    run_into(files, "window.npy", c.options);
    write_mask(files, "mask.npy", [&](Index i, Index j) { return i + c.offset - c.left <= j && j <= i + c.offset + c.right; });
    run_into(files, "masked.npy", {"--mask", files.path("mask.npy")});
    CHECK(same_bytes(files, "window.npy", "masked.npy"));
    CHECK(files.check(c.options + std::vector<std::string>{"--expect-output", files.path("masked.npy")}).exit_code == 0);
  }
  CHECK(files.run({"--window", "3,2"}).exit_code == 2);  // 9 queries, 13 keys: where do they stand?
  CHECK(files.run({"--window", "unlimited,unlimited", "--align", "top-left"}).exit_code == 2);
}

TEST_CASE("key lengths: padding takes no part, and the last query stands at the last key before it") {
  const TensorFiles files;
  Tensor lengths(Dtype::i64, {2});
  lengths.as<std::int64_t>()[0] = 11;
  lengths.as<std::int64_t>()[1] = 5;
  files.write("lengths.npy", lengths);
  for (const bool causal : {false, true}) {
    INFO("causal " << causal);
    const std::vector<std::string> options = causal ? std::vector<std::string>{"--causal"} : std::vector<std::string>{};
    run_into(files, "o.npy", options + std::vector<std::string>{"--kv-lengths", files.path("lengths.npy")});
    Tensor mask(Dtype::boolean, {2, 1, 9, 13});
    for (Index at = 0; at < mask.size(); ++at) {
      const Index length = lengths.as<std::int64_t>()[static_cast<std::size_t>(at / (9 * 13))];
      const Index i = at / 13 % 9, j = at % 13;
      static_cast<bool*>(mask.data())[at] = j < length && (!causal || j <= i + length - 9);
    }
    files.write("mask.npy", mask);
    run_into(files, "masked.npy", {"--mask", files.path("mask.npy")});
    CHECK(same_bytes(files, "o.npy", "masked.npy"));
  }
  // The output of a kernel that lets padding take part.
  run_into(files, "padded.npy", {});
  const Outcome wrong = files.check({"--kv-lengths", files.path("lengths.npy"), "--expect-output", files.path("padded.npy")});
  CHECK(wrong.exit_code == 1);
  CHECK(contains(wrong.out, "matches padding takes part"));
  lengths.as<std::int64_t>()[1] = 14;
  files.write("lengths.npy", lengths);
  const Outcome refused = files.run({"--kv-lengths", files.path("lengths.npy")});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "key lengths: expected 0 to 13, found 14"));
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
