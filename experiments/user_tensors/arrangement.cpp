#include "user_tensors/arrangement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/error.h"

namespace attn {
namespace {

[[noreturn]] void refuse_rank(const NamedTensor& tensor, const char* expected) {
  throw UsageError(fmt::format("{}: dimensions: expected {}, found {}", named_shape(tensor), expected, tensor.tensor.shape().size()));
}

// The last two or three dimensions of hnd and nhd, whose heads and seq change places.
Arrangement arrange_heads(const NamedTensor& tensor, Layout layout) {
  const std::vector<Index>& shape = tensor.tensor.shape();
  const std::size_t rank = shape.size();
  if (rank < 2 || rank > 4)
    refuse_rank(tensor, layout == Layout::hnd ? "2 to 4: (batch, heads, seq, dim)" : "2 to 4: (batch, seq, heads, dim)");
  Arrangement result{layout, rank};
  result.dim = shape[rank - 1];
  if (rank == 2) {
    result.seq = shape[0];
    return result;
  }
  result.batch = rank == 4 ? shape[0] : 1;
  result.heads = shape[layout == Layout::hnd ? rank - 3 : rank - 2];
  result.seq = shape[layout == Layout::hnd ? rank - 2 : rank - 3];
  return result;
}

Arrangement arrange_packed(const NamedTensor& tensor, Index heads) {
  const std::vector<Index>& shape = tensor.tensor.shape();
  const std::size_t rank = shape.size();
  if (rank < 2 || rank > 3) refuse_rank(tensor, "2 or 3: (batch, seq, heads * dim)");
  const Index width = shape[rank - 1];
  if (width % heads != 0) {
    throw UsageError(fmt::format("{}: last dimension: expected a multiple of {} heads, found {}", named_shape(tensor), heads, width));
  }
  return {Layout::packed, rank, rank == 3 ? shape[0] : 1, heads, shape[rank - 2], width / heads};
}

}  // namespace

std::string shape_text(const std::vector<Index>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string named_shape(const NamedTensor& tensor) { return tensor.name + " " + shape_text(tensor.tensor.shape()); }

std::vector<Index> Arrangement::shape() const {
  if (layout == Layout::packed) return rank == 3 ? std::vector<Index>{batch, seq, heads * dim} : std::vector<Index>{seq, heads * dim};
  if (rank == 2) return {seq, dim};
  std::vector<Index> shape = layout == Layout::hnd ? std::vector<Index>{heads, seq, dim} : std::vector<Index>{seq, heads, dim};
  if (rank == 4) shape.insert(shape.begin(), batch);
  return shape;
}

std::vector<Index> Arrangement::index(Index b, Index h, Index i, Index x) const {
  if (layout == Layout::packed) return rank == 3 ? std::vector<Index>{b, i, h * dim + x} : std::vector<Index>{i, h * dim + x};
  if (rank == 2) return {i, x};
  std::vector<Index> index = layout == Layout::hnd ? std::vector<Index>{h, i, x} : std::vector<Index>{i, h, x};
  if (rank == 4) index.insert(index.begin(), b);
  return index;
}

Arrangement arrange(const NamedTensor& tensor, Layout layout, Index heads) {
  return layout == Layout::packed ? arrange_packed(tensor, heads) : arrange_heads(tensor, layout);
}

}  // namespace attn
