#include "user_tensors/attention_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/tensor_file.h"
#include "machine/error.h"
#include "report/fingerprint.h"
#include "user_tensors/join_past.h"
#include "user_tensors/mask.h"

namespace attn {
namespace {

NamedTensor read_named(const std::string& location) { return {location, read_tensor(location)}; }

std::optional<NamedTensor> read_if_given(const std::string& location) {
  if (location.empty()) return std::nullopt;
  return read_named(location);
}

void expect_floating(const NamedTensor& tensor) {
  if (is_floating_point(tensor.tensor.dtype())) return;
  throw UsageError(
      fmt::format("{}: type: expected float16, bfloat16, float32 or float64, found {}", tensor.name, dtype_name(tensor.tensor.dtype())));
}

void expect_same_dtype(const NamedTensor& a, const NamedTensor& b) {
  if (a.tensor.dtype() == b.tensor.dtype()) return;
  throw UsageError(fmt::format("{} and {}: type: expected the same, found {} and {}", a.name, b.name, dtype_name(a.tensor.dtype()),
                               dtype_name(b.tensor.dtype())));
}

void expect_equal(const NamedTensor& a, const NamedTensor& b, const char* what, Index of_a, Index of_b) {
  if (of_a == of_b) return;
  throw UsageError(fmt::format("{} and {}: {}: expected the same, found {} and {}", named_shape(a), named_shape(b), what, of_a, of_b));
}

void expect_fitting(const CallInputs& inputs, const Arrangement& q, const Arrangement& k, const Arrangement& v) {
  expect_equal(inputs.q, inputs.k, "dimensions", static_cast<Index>(q.rank), static_cast<Index>(k.rank));
  expect_equal(inputs.q, inputs.v, "dimensions", static_cast<Index>(q.rank), static_cast<Index>(v.rank));
  expect_equal(inputs.q, inputs.k, "batch", q.batch, k.batch);
  expect_equal(inputs.q, inputs.k, "head_dim", q.dim, k.dim);
  expect_equal(inputs.k, inputs.v, "batch", k.batch, v.batch);
  expect_equal(inputs.k, inputs.v, "heads", k.heads, v.heads);
  expect_equal(inputs.k, inputs.v, "keys", k.seq, v.seq);
  if (k.heads == 0 ? q.heads == 0 : q.heads % k.heads == 0) return;
  throw UsageError(fmt::format("{} and {}: query heads: expected a multiple of the {} of the keys, found {}", named_shape(inputs.q),
                               named_shape(inputs.k), k.heads, q.heads));
}

template <class T>
void set_key_lengths(const NamedTensor& lengths, const NamedTensor& k, AttentionCall<T>& call) {
  if (!is_integer(lengths.tensor.dtype())) {
    throw UsageError(fmt::format("{}: type: expected integers, found {}", lengths.name, dtype_name(lengths.tensor.dtype())));
  }
  const AttentionShape& shape = call.shape;
  if (lengths.tensor.size() != shape.batch) {
    throw UsageError(fmt::format("{} and {}: key lengths: expected {} (one per batch), found {}", named_shape(lengths), named_shape(k),
                                 shape.batch, lengths.tensor.size()));
  }
  call.options.key_lengths = lengths.tensor.to_indices();
  for (const Index length : call.options.key_lengths) {
    if (length < 0 || length > shape.seq_k) {
      throw UsageError(
          fmt::format("{} and {}: key lengths: expected 0 to {}, found {}", named_shape(lengths), named_shape(k), shape.seq_k, length));
    }
    call.options.batch_offsets.push_back(length - shape.seq_q);
  }
}

// Where the queries stand, for causality and window.
template <class T>
void set_positions(const CallInputs& inputs, const CallOptions& given, Index past, AttentionCall<T>& call) {
  const AttentionShape& shape = call.shape;
  AttentionOptions<T>& options = call.options;
  options.causal = given.causal;
  options.window_left = given.window_left;
  options.window_right = given.window_right;
  options.offset = past;
  if (given.q_offset) options.offset = *given.q_offset;
  if (given.align) options.offset = *given.align == Alignment::top_left ? 0 : shape.seq_k - shape.seq_q;
  const bool placed = given.align || given.q_offset || inputs.past_k || inputs.kv_lengths;
  if ((given.causal || given.has_window()) && !placed && shape.seq_q != shape.seq_k) {
    throw UsageError(
        fmt::format("{}: {} queries and {} keys: expected --align top-left (the first query at the first key) or bottom-right "
                    "(the last at the last), found neither",
                    given.causal ? "--causal" : "--window", shape.seq_q, shape.seq_k));
  }
}

Tensor in_type(const Tensor& tensor, Dtype dtype) { return tensor.converted(dtype); }

}  // namespace

CallInputs read_inputs(const CallOptions& options) {
  return {read_named(options.q),
          read_named(options.k),
          read_named(options.v),
          read_if_given(options.mask),
          read_if_given(options.past_k),
          read_if_given(options.past_v),
          read_if_given(options.kv_lengths)};
}

std::string input_hash(const CallInputs& inputs) {
  Fingerprint fingerprint;
  for (const NamedTensor* tensor : {&inputs.q, &inputs.k, &inputs.v}) fingerprint.add(tensor->tensor.data(), tensor->tensor.bytes());
  for (const auto* tensor : {&inputs.mask, &inputs.past_k, &inputs.past_v, &inputs.kv_lengths}) {
    if (*tensor) fingerprint.add((*tensor)->tensor.data(), (*tensor)->tensor.bytes());
  }
  return fingerprint.text();
}

Dtype compute_dtype(const CallInputs& inputs, const CallOptions& options) {
  for (const NamedTensor* tensor : {&inputs.q, &inputs.k, &inputs.v}) expect_floating(*tensor);
  expect_same_dtype(inputs.q, inputs.k);
  expect_same_dtype(inputs.q, inputs.v);
  const bool wide = inputs.q.tensor.dtype() == Dtype::f64;
  if (wide && options.softmax_precision == Dtype::f32) {
    throw UsageError("--softmax-precision: expected f64 for float64 inputs, found 'f32'");
  }
  return wide || options.softmax_precision == Dtype::f64 ? Dtype::f64 : Dtype::f32;
}

template <class T>
AttentionCall<T> make_call(const CallInputs& inputs, const CallOptions& options) {
  check_call_options(options);
  const Index kv_heads = options.num_kv_heads > 0 ? options.num_kv_heads : options.num_heads;
  const Arrangement q = arrange(inputs.q, options.layout, options.num_heads);
  Arrangement k = arrange(inputs.k, options.layout, kv_heads);
  Arrangement v = arrange(inputs.v, options.layout, kv_heads);
  expect_fitting(inputs, q, k, v);
  AttentionCall<T> call;
  call.q = in_type(inputs.q.tensor, dtype_of<T>());
  Index past = 0;
  if (inputs.past_k) {
    JoinedPast joined_k = join_past(*inputs.past_k, inputs.k, k);
    JoinedPast joined_v = join_past(*inputs.past_v, inputs.v, v);
    expect_equal(*inputs.past_k, *inputs.past_v, "keys", joined_k.past, joined_v.past);
    past = joined_k.past;
    k = joined_k.arrangement;
    v = joined_v.arrangement;
    call.present_k = std::move(joined_k.tensor);
    call.present_v = std::move(joined_v.tensor);
  }
  call.k = in_type(call.present_k ? *call.present_k : inputs.k.tensor, dtype_of<T>());
  call.v = in_type(call.present_v ? *call.present_v : inputs.v.tensor, dtype_of<T>());
  call.shape = {q.batch, q.heads, k.heads, q.seq, k.seq, q.dim, v.dim};
  call.dtype = inputs.q.tensor.dtype();
  call.output_arrangement = q.with(q.heads, q.seq, v.dim);
  const auto elements = [](const Tensor& tensor) { return tensor.as<T>().data(); };
  call.q_view = q.view(elements(call.q));
  call.k_view = k.view(elements(call.k));
  call.v_view = v.view(elements(call.v));
  call.options.softmax_scale = options.scale;
  call.options.softcap = options.softcap;
  if (inputs.kv_lengths) set_key_lengths(*inputs.kv_lengths, inputs.k, call);
  set_positions(inputs, options, past, call);
  if (inputs.mask) set_mask(*inputs.mask, inputs.q, inputs.k, call);
  check_options(call.shape, call.options);
  return call;
}

template <class T>
std::string mask_text(const AttentionCall<T>& call) {
  const AttentionOptions<T>& options = call.options;
  std::vector<std::string> parts;
  if (options.mask.visible != nullptr) parts.emplace_back("bool mask");
  if (options.mask.additive != nullptr) parts.emplace_back("additive mask");
  if (options.causal) parts.emplace_back("causal");
  const auto side = [](Index size) { return size == unlimited ? std::string("unlimited") : std::to_string(size); };
  const bool window = options.window_left != unlimited || options.window_right != unlimited;
  if (window) parts.push_back(fmt::format("window {} before, {} after", side(options.window_left), side(options.window_right)));
  if ((options.causal || window) && options.batch_offsets.empty()) parts.push_back(fmt::format("offset {}", options.offset));
  if (!options.key_lengths.empty()) parts.push_back(fmt::format("key lengths {}", fmt::join(options.key_lengths, " ")));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

template AttentionCall<float> make_call(const CallInputs&, const CallOptions&);
template AttentionCall<double> make_call(const CallInputs&, const CallOptions&);
template std::string mask_text(const AttentionCall<float>&);
template std::string mask_text(const AttentionCall<double>&);

}  // namespace attn
