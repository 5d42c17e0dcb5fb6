#include "user_tensors/join_past.h"

#include <fmt/format.h>

#include <cstring>

#include "machine/error.h"

namespace attn {
namespace {

void expect_fitting(const NamedTensor& past, const NamedTensor& present, const Arrangement& a, const Arrangement& b) {
  if (past.tensor.dtype() != present.tensor.dtype()) {
    throw UsageError(fmt::format("{} and {}: type: expected the same, found {} and {}", past.name, present.name,
                                 dtype_name(past.tensor.dtype()), dtype_name(present.tensor.dtype())));
  }
  const auto expect = [&](const char* what, Index found, Index expected) {
    if (found == expected) return;
    throw UsageError(
        fmt::format("{} and {}: {}: expected the same, found {} and {}", named_shape(past), named_shape(present), what, found, expected));
  };
  expect("batch", a.batch, b.batch);
  expect("heads", a.heads, b.heads);
  expect("dim", a.dim, b.dim);
}

// Copies (batch, heads, seq) rows of `from` behind the first `at` rows of `to`. Elements are `size` bytes.
void copy_rows(const Tensor& from, const Arrangement& from_arrangement, Tensor& to, const Arrangement& to_arrangement, Index at) {
  const auto size = static_cast<Index>(dtype_bytes(from.dtype()));
  // As bytes: the last dimension is contiguous, so that views of bytes need `size` times the strides.
  const auto row = [size](auto* data, const Arrangement& arrangement, Index b, Index h, Index i) {
    const auto view = arrangement.view(data);
    return data + (b * view.batch_stride + h * view.head_stride + i * view.row_stride) * size;
  };
  const auto bytes = static_cast<std::size_t>(from_arrangement.dim * size);
  if (bytes == 0) return;
  for (Index b = 0; b < from_arrangement.batch; ++b) {
    for (Index h = 0; h < from_arrangement.heads; ++h) {
      for (Index i = 0; i < from_arrangement.seq; ++i) {
        std::memcpy(row(static_cast<char*>(to.data()), to_arrangement, b, h, at + i),
                    row(static_cast<const char*>(from.data()), from_arrangement, b, h, i), bytes);
      }
    }
  }
}

}  // namespace

JoinedPast join_past(const NamedTensor& past, const NamedTensor& present, const Arrangement& arrangement) {
  const bool own_layout = arrangement.layout == Layout::packed && past.tensor.shape().size() == 4;
  const Arrangement before = arrange(past, own_layout ? Layout::hnd : arrangement.layout, arrangement.heads);
  expect_fitting(past, present, before, arrangement);
  const Arrangement joined = before.with(before.heads, before.seq + arrangement.seq, before.dim);
  JoinedPast result{Tensor(past.tensor.dtype(), joined.shape()), joined, before.seq};
  copy_rows(past.tensor, before, result.tensor, joined, 0);
  copy_rows(present.tensor, arrangement, result.tensor, joined, before.seq);
  return result;
}

}  // namespace attn
