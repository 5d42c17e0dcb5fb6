#include "user_tensors/mask.h"

#include <fmt/format.h>

#include "machine/error.h"

namespace attn {
namespace {

void expect_mask_type(const NamedTensor& mask) {
  const Dtype dtype = mask.tensor.dtype();
  if (dtype == Dtype::boolean || is_floating_point(dtype)) return;
  throw UsageError(fmt::format(
      "{}: type: expected bool (true takes part) or floating point (added to the scores), found {}; save mask.astype(bool) if 1 takes part",
      mask.name, dtype_name(dtype)));
}

[[noreturn]] void refuse_shape(const NamedTensor& mask, const NamedTensor& q, const NamedTensor& k, const AttentionShape& shape) {
  throw UsageError(fmt::format("{} with {} and {}: shape: expected one that broadcasts to (batch, heads, queries, keys) ({}, {}, {}, {})",
                               named_shape(mask), named_shape(q), named_shape(k), shape.batch, shape.heads, shape.seq_q, shape.seq_k));
}

}  // namespace

template <class T>
void set_mask(const NamedTensor& mask, const NamedTensor& q, const NamedTensor& k, AttentionCall<T>& call) {
  expect_mask_type(mask);
  const AttentionShape& shape = call.shape;
  std::vector<Index> sizes = mask.tensor.shape();
  if (sizes.size() > 4) refuse_shape(mask, q, k, shape);
  sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
  const Index wanted[] = {shape.batch, shape.heads, shape.seq_q};
  Index strides[4] = {0, 0, 0, 0};
  Index stride = sizes[3];
  for (int d = 2; d >= 0; --d) {
    if (sizes[d] != 1 && sizes[d] != wanted[d]) refuse_shape(mask, q, k, shape);
    strides[d] = sizes[d] == 1 ? 0 : stride;
    stride *= sizes[d];
  }
  if (sizes[3] > shape.seq_k && sizes[3] != 1) refuse_shape(mask, q, k, shape);
  strides[3] = sizes[3] == 1 ? 0 : 1;
  MaskView<T>& view = call.options.mask;
  const bool boolean = mask.tensor.dtype() == Dtype::boolean;
  call.mask = boolean ? mask.tensor.converted(Dtype::boolean) : mask.tensor.converted(dtype_of<T>());
  if (boolean) {
    view.visible = static_cast<const std::uint8_t*>(call.mask->data());
  } else {
    view.additive = call.mask->template as<T>().data();
  }
  view.keys = sizes[3] == 1 ? shape.seq_k : sizes[3];
  view.batch_stride = strides[0];
  view.head_stride = strides[1];
  view.row_stride = strides[2];
  view.key_stride = strides[3];
}

template void set_mask(const NamedTensor&, const NamedTensor&, const NamedTensor&, AttentionCall<float>&);
template void set_mask(const NamedTensor&, const NamedTensor&, const NamedTensor&, AttentionCall<double>&);

}  // namespace attn
