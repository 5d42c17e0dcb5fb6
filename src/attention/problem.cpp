#include "attention/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& expected, const std::string& found) {
  throw UsageError(fmt::format("attention: {}: expected {}, found {}", what, expected, found));
}

template <class T>
std::string shape_text(const TensorView<T>& t) {
  return fmt::format("({}, {}, {}, {})", t.batch, t.heads, t.seq, t.dim);
}

// `found` has the sizes given; `reason` says where those come from.
template <class T>
void expect_shape(const char* name, const TensorView<T>& found, Index batch, Index heads, Index seq, Index dim, const std::string& reason) {
  if (found.batch == batch && found.heads == heads && found.seq == seq && found.dim == dim) return;
  fail(name, fmt::format("({}, {}, {}, {}) (batch, heads, seq, dim), {}", batch, heads, seq, dim, reason), shape_text(found));
}

template <class T>
void expect_sizes(const char* name, const TensorView<T>& t) {
  if (t.batch < 0 || t.heads < 0 || t.seq < 0 || t.dim < 0) fail(name, "sizes of 0 or more", shape_text(t));
  const bool has_elements = t.batch > 0 && t.heads > 0 && t.seq > 0 && t.dim > 0;
  if (has_elements && t.data == nullptr) fail(name, "elements", "none");
}

// Two rows of an output must not share elements: every stride, in rising order, steps over all that the smaller ones reach.
template <class T>
void expect_no_overlap(const char* name, const TensorView<T>& t) {
  struct Dimension {
    Index size, stride;
  };
  Dimension dimensions[] = {{t.batch, t.batch_stride}, {t.heads, t.head_stride}, {t.seq, t.row_stride}};
  std::sort(std::begin(dimensions), std::end(dimensions),
            [](const Dimension& a, const Dimension& b) { return std::abs(a.stride) < std::abs(b.stride); });
  Index reach = t.dim;
  for (const Dimension& d : dimensions) {
    if (d.size == 0) return;
    if (d.size == 1) continue;
    if (std::abs(d.stride) < reach)
      fail(name, "rows that do not overlap", fmt::format("strides ({}, {}, {})", t.batch_stride, t.head_stride, t.row_stride));
    reach += (d.size - 1) * std::abs(d.stride);
  }
}

void expect_per_batch(const char* name, const std::vector<Index>& values, Index batch) {
  if (!values.empty() && static_cast<Index>(values.size()) != batch) {
    fail(name, fmt::format("{} values (one per batch)", batch), std::to_string(values.size()));
  }
}

}  // namespace

template <class T>
AttentionShape shape_of(const AttentionTensors<T>& tensors) {
  const auto& [q, k, v, o] = tensors;
  expect_sizes("q", q);
  expect_sizes("k", k);
  expect_sizes("v", v);
  expect_sizes("o", o);
  if (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0) {
    fail("heads", "a multiple of k's " + std::to_string(k.heads), std::to_string(q.heads));
  }
  expect_shape("k", k, q.batch, k.heads, k.seq, q.dim, "batch and dim as q " + shape_text(q));
  expect_shape("v", v, k.batch, k.heads, k.seq, v.dim, "all but dim as k " + shape_text(k));
  expect_shape("o", o, q.batch, q.heads, q.seq, v.dim, fmt::format("from q {} and v {}", shape_text(q), shape_text(v)));
  expect_no_overlap("o", o);
  return {q.batch, q.heads, k.heads, q.seq, k.seq, q.dim, v.dim};
}

template <class T>
void check_options(const AttentionShape& shape, const AttentionOptions<T>& options) {
  const MaskView<T>& mask = options.mask;
  if (options.softmax_scale && !std::isfinite(*options.softmax_scale)) {
    fail("softmax_scale", "a finite number", std::to_string(*options.softmax_scale));
  }
  if (!(options.softcap >= 0) || std::isinf(options.softcap)) {
    fail("softcap", "a finite number above 0, or 0 for none", std::to_string(options.softcap));
  }
  if (mask.visible != nullptr && mask.additive != nullptr) fail("mask", "a boolean or an additive one", "both");
  if (mask.exists() && (mask.keys < 0 || mask.keys > shape.seq_k)) {
    fail("mask", fmt::format("at most {} keys", shape.seq_k), std::to_string(mask.keys));
  }
  if (options.window_left < 0) fail("window", "a left size of 0 or more", std::to_string(options.window_left));
  if (options.window_right < 0) fail("window", "a right size of 0 or more", std::to_string(options.window_right));
  expect_per_batch("offsets", options.batch_offsets, shape.batch);
  expect_per_batch("key lengths", options.key_lengths, shape.batch);
  for (const Index length : options.key_lengths) {
    if (length < 0 || length > shape.seq_k) fail("key lengths", fmt::format("0 to {} keys", shape.seq_k), std::to_string(length));
  }
  constexpr Index largest = Index{1} << 61;
  for (Index b = 0; b < shape.batch; ++b) {
    const Index offset = options.offset_of(b);
    if (offset > largest - shape.seq_q || offset < -largest) fail("offset", "a position within 61 bits", std::to_string(offset));
  }
}

template AttentionShape shape_of(const AttentionTensors<float>&);
template AttentionShape shape_of(const AttentionTensors<double>&);
template AttentionShape shape_of(const AttentionTensors<long double>&);
template void check_options(const AttentionShape&, const AttentionOptions<float>&);
template void check_options(const AttentionShape&, const AttentionOptions<double>&);
template void check_options(const AttentionShape&, const AttentionOptions<long double>&);

}  // namespace attn
