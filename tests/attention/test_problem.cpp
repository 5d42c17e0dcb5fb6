#include "attention/problem.h"

#include <limits>
#include <vector>

#include "attention/visibility.h"
#include "catch.h"

using namespace attn;

namespace {

// Tensors over one buffer that is large enough for all; only their shapes matter here.
AttentionTensors<float> tensors_of(const AttentionShape& s) {
  static std::vector<float> buffer(4096);
  using Tensor = TensorView<float>;
  return {Tensor::hnd(buffer.data(), s.batch, s.heads, s.seq_q, s.head_dim),
          Tensor::hnd(buffer.data(), s.batch, s.kv_heads, s.seq_k, s.head_dim),
          Tensor::hnd(buffer.data(), s.batch, s.kv_heads, s.seq_k, s.head_dim_v),
          Tensor::hnd(buffer.data(), s.batch, s.heads, s.seq_q, s.head_dim_v)};
}

using Options = AttentionOptions<float>;

// Visible keys of one row by the words of the options' description, one key at a time.
bool visible_by_definition(const AttentionShape& shape, const Options& options, Index b, Index i, Index j) {
  const Index position = i + options.offset_of(b);
  bool visible = j >= 0 && j < shape.seq_k;
  if (options.mask.exists()) visible = visible && j < options.mask.keys;
  if (!options.key_lengths.empty()) visible = visible && j < options.key_lengths[static_cast<std::size_t>(b)];
  if (options.causal) visible = visible && j <= position;
  if (options.window_left != unlimited) visible = visible && position - j <= options.window_left;
  if (options.window_right != unlimited) visible = visible && j - position <= options.window_right;
  return visible;
}

}  // namespace

TEST_CASE("the shape is what the views have in common") {
  const AttentionShape shape{2, 6, 3, 5, 7, 4, 8};
  CHECK(shape_of(tensors_of(shape)) == shape);
  CHECK(shape.kv_head_of(0) == 0);
  CHECK(shape.kv_head_of(1) == 0);
  CHECK(shape.kv_head_of(5) == 2);
  CHECK(shape_of(tensors_of({1, 1, 1, 0, 0, 4, 4})) == AttentionShape{1, 1, 1, 0, 0, 4, 4});
}

TEST_CASE("views that do not fit together are usage errors that name both sides") {
  const AttentionShape shape{2, 6, 3, 5, 7, 4, 8};
  AttentionTensors<float> bad = tensors_of(shape);
  bad.k.dim = 3;
  CHECK_THROWS_WITH(shape_of(bad),
                    "attention: k: expected (2, 3, 7, 4) (batch, heads, seq, dim), batch and dim as q (2, 6, 5, 4), "
                    "found (2, 3, 7, 3)");
  bad = tensors_of(shape);
  bad.v.seq = 6;
  CHECK_THROWS_AS(shape_of(bad), UsageError);
  bad = tensors_of(shape);
  bad.k.heads = bad.v.heads = 4;
  CHECK_THROWS_WITH(shape_of(bad), "attention: heads: expected a multiple of k's 4, found 6");
  bad = tensors_of(shape);
  bad.o.row_stride = 7;
  CHECK_THROWS_AS(shape_of(bad), UsageError);
  bad = tensors_of(shape);
  bad.q.data = nullptr;
  CHECK_THROWS_AS(shape_of(bad), UsageError);
}

TEST_CASE("an output may lie in any layout that keeps its rows apart") {
  AttentionTensors<float> tensors = tensors_of({2, 3, 3, 5, 7, 4, 4});
  tensors.o = TensorView<float>::nhd(tensors.o.data, 2, 3, 5, 4);
  CHECK_NOTHROW(shape_of(tensors));
  tensors.o.head_stride = 0;
  CHECK_THROWS_AS(shape_of(tensors), UsageError);
}

TEST_CASE("options that make no sense are usage errors") {
  const AttentionShape shape{2, 1, 1, 5, 7, 4, 4};
  const std::uint8_t visible = 1;
  const float additive = 0;
  const auto rejected = [&](auto change) {
    Options options;
    CHECK_NOTHROW(check_options(shape, options));
    change(options);
    CHECK_THROWS_AS(check_options(shape, options), UsageError);
  };
  rejected([](Options& o) { o.softmax_scale = std::numeric_limits<double>::infinity(); });
  rejected([](Options& o) { o.softcap = -1; });
  rejected([](Options& o) { o.softcap = std::numeric_limits<double>::quiet_NaN(); });
  rejected([](Options& o) { o.window_left = -1; });
  rejected([](Options& o) { o.window_right = -1; });
  rejected([](Options& o) { o.batch_offsets = {1}; });
  rejected([](Options& o) { o.key_lengths = {7, 8}; });
  rejected([](Options& o) { o.key_lengths = {7, -1}; });
  rejected([](Options& o) { o.key_lengths = {7}; });
  rejected([](Options& o) { o.offset = unlimited; });
  rejected([&](Options& o) { o.mask.visible = &visible, o.mask.keys = 8; });
  rejected([&](Options& o) { o.mask.visible = &visible, o.mask.additive = &additive; });
}

TEST_CASE("the scale defaults to one over the root of head_dim") {
  Options options;
  CHECK(softmax_scale_of({1, 1, 1, 1, 1, 64, 1}, options) == 0.125);
  CHECK(softmax_scale_of({1, 1, 1, 1, 1, 0, 1}, options) == 1.0);
  options.softmax_scale = 0.37;
  CHECK(softmax_scale_of({1, 1, 1, 1, 1, 64, 1}, options) == 0.37);
}

TEST_CASE("the visible range holds the keys that the definition admits, and no others") {
  const AttentionShape shape{2, 3, 1, 6, 9, 4, 4};
  const std::uint8_t visible = 1;
  for (const bool causal : {false, true}) {
    for (const Index offset : {-20, -3, 0, 3, 20}) {
      for (const Index left : {Index{0}, Index{2}, unlimited - 1, unlimited}) {
        for (const Index right : {Index{0}, Index{1}, unlimited - 1, unlimited}) {
          Options options;
          options.causal = causal, options.window_left = left, options.window_right = right;
          options.batch_offsets = {offset, offset + 1};
          options.key_lengths = {9, 4};
          options.mask.visible = &visible, options.mask.keys = 8, options.mask.key_stride = 0;
          double pairs = 0;
          for (Index b = 0; b < shape.batch; ++b) {
            for (Index i = 0; i < shape.seq_q; ++i) {
              const KeyRange range = visible_range(shape, options, b, i);
              for (Index j = 0; j < shape.seq_k; ++j) {
                const bool expected = visible_by_definition(shape, options, b, i, j);
                pairs += expected ? 3 : 0;
                CHECK(range.contains(j) == expected);
                CHECK(is_visible(shape, options, b, 1, i, j) == expected);
              }
            }
          }
          CHECK(visible_pairs(shape, options) == pairs);
        }
      }
    }
  }
}

TEST_CASE("entries of a mask are found through its strides, 0 broadcasting") {
  const AttentionShape shape{2, 2, 1, 3, 4, 4, 4};
  const std::vector<std::uint8_t> visible = {1, 0, 1, 0, 0, 1, 0, 1};  // (batch 2, 1, 1, keys 4)
  Options options;
  options.mask = {.visible = visible.data(), .keys = 4, .batch_stride = 4};
  CHECK(is_visible(shape, options, 0, 1, 2, 0));
  CHECK_FALSE(is_visible(shape, options, 1, 0, 2, 0));
  CHECK(is_visible(shape, options, 1, 1, 1, 3));
  const std::vector<float> additive = {0, -std::numeric_limits<float>::infinity(), -1e30F};  // (rows 3, 1)
  options.mask = {.additive = additive.data(), .keys = 4, .row_stride = 1, .key_stride = 0};
  CHECK(is_visible(shape, options, 0, 0, 0, 3));
  CHECK_FALSE(is_visible(shape, options, 0, 0, 1, 3));
  CHECK(is_visible(shape, options, 0, 0, 2, 3));
}
