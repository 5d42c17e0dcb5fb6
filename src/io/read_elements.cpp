#include "io/read_elements.h"

#include <algorithm>

#include "machine/memory_limit.h"

namespace attn {
namespace {

void swap_bytes(Tensor& tensor) {
  char* const bytes = static_cast<char*>(tensor.data());
  const std::size_t width = dtype_bytes(tensor.dtype());
  for (std::size_t i = 0; i < tensor.bytes(); i += width) std::reverse(bytes + i, bytes + i + width);
}

// Another byte than 0 or 1 is no bool in C++; for NumPy all but 0 are True.
void normalise_bools(Tensor& tensor) {
  auto* const bytes = static_cast<unsigned char*>(tensor.data());
  std::transform(bytes, bytes + tensor.bytes(), bytes, [](unsigned char byte) { return byte != 0; });
}

}  // namespace

Tensor read_elements(ByteReader& reader, Dtype dtype, const std::vector<Index>& shape, bool swapped, std::string_view where) {
  const std::optional<Index> bytes = bytes_of_shape(dtype, shape);
  if (!bytes) reader.fail(where, "less than 2^63 bytes", shape_text(shape));
  reader.require(static_cast<std::uint64_t>(*bytes), where);
  // Small tensors are not worth a look at the system's limits.
  if (static_cast<std::size_t>(*bytes) >= mapped_allocation_bytes) require_memory(static_cast<std::uint64_t>(*bytes), reader.name());
  Tensor tensor(dtype, shape);
  reader.read(tensor.data(), tensor.bytes(), where);
  if (swapped) swap_bytes(tensor);
  if (dtype == Dtype::boolean) normalise_bools(tensor);
  return tensor;
}

}  // namespace attn
