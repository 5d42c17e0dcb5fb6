// Fused attention against the oracle, in every way that a problem can be cut: shapes, modifiers, targets and threads.
#include "attention/fused.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "attention/accuracy.h"
#include "attention/fused_plan.h"
#include "attention/random_problem.h"
#include "attention/standard.h"
#include "catch.h"
#include "machine/threads.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

// The largest errors over many problems, relative to each one's largest output. A single small problem is too few roundings to compare two
// algorithms by.
class ErrorPool {
 public:
  template <class T>
  void add(const std::string& target, double fused, double standard, double largest) {
    Errors& errors = by_target_[target + (sizeof(T) == 4 ? " float32" : " float64")];
    errors.fused = std::max(errors.fused, fused / largest);
    errors.standard = std::max(errors.standard, standard / largest);
    errors.rounding = std::numeric_limits<T>::epsilon();
  }

  // The fused output is at most twice as far from the oracle as that of the standard algorithm in the same type, plus a rounding of the
  // largest output.
  void check() const {
    for (const auto& [target, errors] : by_target_) {
      CAPTURE(target);
      CHECK(errors.fused <= 2 * errors.standard + errors.rounding);
    }
  }

 private:
  struct Errors {
    double fused = 0, standard = 0, rounding = 0;
  };
  std::map<std::string, Errors> by_target_;
};

// One problem on every target and on 1, 2 and 3 threads: the same to the bit for any number of threads, and within what rounding explains.
template <class T>
void check_problem(OwnedProblem<T>& problem, const AttentionOptions<T>& options, ErrorPool& pool) {
  const AttentionShape& s = problem.shape;
  CAPTURE(s.batch, s.heads, s.kv_heads, s.seq_q, s.seq_k, s.head_dim, s.head_dim_v);
  const Expected<T> expected = expect(problem, options);
  const auto rows = static_cast<std::size_t>(s.batch * s.heads * s.seq_q);
  for_each_target([&](const std::string& target) {
    std::vector<T> o(problem.o.size(), T{-7}), standard(problem.o.size()), again(problem.o.size());
    std::vector<T> lse(rows, T{-7}), standard_lse(rows), lse_again(rows);
    StandardOutputs<T> outputs;
    outputs.lse = standard_lse.data();
    standard_attention(problem.tensors_into(standard), options, outputs);
    set_threads(1);
    fused_attention(problem.tensors_into(o), options, lse.data());
    for (const int count : {2, 3}) {
      set_threads(count);
      fused_attention(problem.tensors_into(again), options, lse_again.data());
      CHECK(same_bits(o, again));
      CHECK(same_bits(lse, lse_again));
    }
    set_threads(default_threads());
    const WorstError error = worst_error(o, expected);
    CHECK(error.of_allowed <= 4);
    CHECK(worst_lse_error(lse, expected) <= 2 * worst_lse_error(standard_lse, expected) + 8 * std::numeric_limits<T>::epsilon());
    if (expected.largest > 0) pool.add<T>(target, error.absolute, worst_error(standard, expected).absolute, expected.largest);
  });
}

template <class T>
void check_random(ErrorPool& pool, const AttentionShape& shape, std::uint64_t seed, double deviation = 1,
                  const AttentionOptions<T>& options = {}) {
  OwnedProblem<T> problem = random_problem<T>(shape, seed, deviation);
  check_problem(problem, options, pool);
}

template <class T>
void check_families() {
  constexpr Index tile = 960 / sizeof(T);
  const AttentionShape shape{1, 2, 1, 49, 2 * tile + 61, 64, 64};
  std::uint64_t seed = 100;
  for (const double deviation : {0.0, 0.01, 1.0, 4.0, 20.0}) {
    CAPTURE(deviation);
    ErrorPool pool;
    for (int i = 0; i < 5; ++i) check_random<T>(pool, shape, seed++, deviation);
    pool.check();
  }
}

// One set of options for every modifier and some combinations, each with a name.
template <class T>
std::vector<std::pair<std::string, AttentionOptions<T>>> modifier_sets(const AttentionShape& shape, const RandomMask<T>& full,
                                                                       const RandomMask<T>& shorter) {
  using Options = AttentionOptions<T>;
  std::vector<std::pair<std::string, Options>> sets;
  const auto add = [&](const char* name, auto change) {
    Options options;
    change(options);
    sets.emplace_back(name, options);
  };
  add("scale", [](Options& o) { o.softmax_scale = 0.37; });
  add("negative scale", [](Options& o) { o.softmax_scale = -0.2; });
  add("softcap", [](Options& o) { o.softcap = 3; });
  add("bool mask", [&](Options& o) { o.mask = full.view(shape, true); });
  add("additive mask", [&](Options& o) { o.mask = full.view(shape, false); });
  add("shorter mask", [&](Options& o) { o.mask = shorter.view(shape, true); });
  add("broadcast mask",
      [&](Options& o) { o.mask = full.view(shape, true), o.mask.head_stride = o.mask.batch_stride = o.mask.row_stride = 0; });
  add("mask by row", [&](Options& o) { o.mask = full.view(shape, false), o.mask.key_stride = 0; });
  add("strided mask", [&](Options& o) { o.mask = full.view(shape, true), o.mask.key_stride = 2, o.mask.keys = shape.seq_k / 2; });
  add("causal", [](Options& o) { o.causal = true; });
  add("causal, bottom-right", [&](Options& o) { o.causal = true, o.offset = shape.seq_k - shape.seq_q; });
  add("causal, negative offset", [](Options& o) { o.causal = true, o.offset = -20; });
  add("window", [](Options& o) { o.window_left = 37, o.window_right = 5, o.offset = 11; });
  add("left window", [](Options& o) { o.window_left = 0, o.causal = true; });
  add("key lengths", [&](Options& o) { o.key_lengths = {shape.seq_k - 7, 0}; });
  add("offsets by batch", [&](Options& o) { o.causal = true, o.batch_offsets = {3, shape.seq_k - 1}, o.key_lengths = {shape.seq_k, 40}; });
  add("everything", [&](Options& o) {
    o.softmax_scale = 0.5, o.softcap = 2, o.mask = full.view(shape, false), o.causal = true, o.offset = 9, o.window_left = 90;
    o.key_lengths = {shape.seq_k, shape.seq_k - 30};
  });
  return sets;
}

template <class T>
void check_modifiers(const AttentionShape& shape) {
  const RandomMask<T> full(shape, shape.seq_k, 5, 0.7);
  const RandomMask<T> shorter(shape, shape.seq_k - 13, 6, 0.7);
  ErrorPool pool;
  std::uint64_t seed = 200;
  for (const auto& [name, options] : modifier_sets<T>(shape, full, shorter)) {
    CAPTURE(name);
    check_random<T>(pool, shape, seed++, 1, options);
  }
  pool.check();
}

}  // namespace

TEST_CASE("fused attention is as accurate as the standard algorithm on flat, random, peaked and large scores") {
  check_families<float>();
  check_families<double>();
}

TEST_CASE("fused attention obeys every modifier, alone and together") {
  check_modifiers<float>({2, 2, 1, 60, 290, 16, 24});
  check_modifiers<double>({2, 2, 1, 60, 150, 16, 24});
  check_modifiers<float>({2, 2, 1, 130, 290, 16, 24});  // packed once, for several blocks
  check_modifiers<double>({2, 2, 1, 130, 150, 16, 24});
  check_modifiers<float>({2, 4, 2, 3, 290, 16, 24});  // few queries: keys and values where they lie
  check_modifiers<double>({2, 4, 2, 1, 150, 16, 24});
}

TEST_CASE("fused attention takes any sizes") {
  ErrorPool pool;
  std::uint64_t seed = 300;
  for (const Index head_dim : {1, 3, 64, 65, 136}) {
    for (const Index head_dim_v : {1, 17, 64, 72, 130}) {
      check_random<float>(pool, {1, 1, 1, 26, 50, head_dim, head_dim_v}, seed++);
      check_random<double>(pool, {1, 1, 1, 5, 50, head_dim, head_dim_v}, seed++);
    }
  }
  check_random<float>(pool, {1, 1, 1, 30, 40, 600, 20}, seed++);
  check_random<float>(pool, {1, 1, 1, 30, 20, 4, 4000}, seed++);
  check_random<double>(pool, {1, 1, 1, 2, 20, 700, 300}, seed++);
  pool.check();
}

TEST_CASE("fused attention takes sequences around every edge of its tiles") {
  ErrorPool pool;
  std::uint64_t seed = 400;
  for (Index n = 1; n <= 70; ++n) check_random<float>(pool, {1, 1, 1, n, 71 - n, 8, 8}, seed++);
  for (Index n = 1; n <= 50; ++n) check_random<double>(pool, {1, 1, 1, n, n, 5, 3}, seed++);
  for (const Index n : {95, 96, 97, 239, 240, 241}) {
    AttentionOptions<float> causal;
    causal.causal = true;
    check_random<float>(pool, {1, 1, 1, n, n, 16, 16}, seed++);
    check_random<float>(pool, {1, 1, 1, n, n, 16, 16}, seed++, 1, causal);
    check_random<float>(pool, {1, 1, 1, 8, n, 16, 16}, seed++);
    check_random<float>(pool, {1, 1, 1, 9, n, 16, 16}, seed++);
  }
  pool.check();
}

TEST_CASE("fused attention takes batches and grouped heads, stacked or not, and splits keys among tasks") {
  ErrorPool pool;
  std::uint64_t seed = 500;
  AttentionOptions<float> causal;
  causal.causal = true;
  causal.offset = 3;
  check_random<float>(pool, {3, 6, 2, 17, 65, 16, 16}, seed++);
  check_random<float>(pool, {3, 6, 2, 17, 65, 16, 16}, seed++, 1, causal);
  check_random<float>(pool, {2, 4, 1, 130, 65, 16, 16}, seed++, 1, causal);
  check_random<double>(pool, {1, 8, 8, 1, 300, 16, 16}, seed++);
  check_random<float>(pool, {1, 8, 1, 1, 3000, 16, 16}, seed++);
  check_random<float>(pool, {1, 1, 1, 1, 2500, 64, 64}, seed++);
  check_random<float>(pool, {1, 1, 1, 40, 2500, 16, 16}, seed++);
  check_random<float>(pool, {1, 1, 1, 1030, 40, 16, 16}, seed++, 1, causal);
  pool.check();
}

// More than block_groups groups of rows, but blocks that are few, since keys and values exceed block_bytes.
template <class T>
void check_split_keys_of_shared_blocks(const AttentionShape& shape) {
  using Options = AttentionOptions<T>;
  const FusedPlan plan = plan_fused<T>(shape);
  REQUIRE(plan.access == KeyAccess::packed_once);
  REQUIRE_FALSE(plan_wave<T>(plan, shape, {}, 0, 1).merges.empty());
  ErrorPool pool;
  std::uint64_t seed = 600;
  const RandomMask<T> mask(shape, shape.seq_k, 7, 0.7);
  Options options;
  check_random<T>(pool, shape, seed++, 1, options);
  options.causal = true;  // the first query sees a part of its keys' first part only, the last all but the last part
  options.offset = 500;
  check_random<T>(pool, shape, seed++, 1, options);
  options.offset = shape.seq_k - 2000;
  options.window_left = 300;  // rows see a few tiles of one part
  check_random<T>(pool, shape, seed++, 1, options);
  options = {};
  options.key_lengths = {700};
  options.mask = mask.view(shape, true);
  check_random<T>(pool, shape, seed++, 1, options);
  pool.check();
}

TEST_CASE("fused attention splits the keys of blocks that share packed ones") {
  check_split_keys_of_shared_blocks<float>({1, 2, 1, 100, 6700, 16, 24});
  check_split_keys_of_shared_blocks<double>({1, 2, 1, 100, 3400, 16, 24});
}
