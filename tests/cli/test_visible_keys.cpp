// What decides which keys a query sees: masks, windows and key lengths of `attn run` and `attn check`, each against the full mask that says
// the same.
#include <random>

#include "catch.h"
#include "cli/tensor_files.h"

using namespace attn;

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
