#include "io/npy.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "io/npy_header.h"
#include "io/read_elements.h"

namespace attn {
namespace {

// Elements of T's size, first dimension fastest, into row-major order: `index` runs through the latter like an odometer.
template <class T>
void reorder(const T* fortran, T* to, const std::vector<Index>& shape) {
  std::vector<Index> strides(shape.size(), 1);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) strides[axis] = strides[axis - 1] * shape[axis - 1];
  std::vector<Index> index(shape.size(), 0);
  const std::size_t last = shape.size() - 1;
  for (Index row = 0;;) {
    for (Index i = 0; i < shape[last]; ++i) *to++ = fortran[row + i * strides[last]];
    std::size_t axis = last;
    do {
      if (axis-- == 0) return;
      row += strides[axis];
      if (++index[axis] < shape[axis]) break;
      row -= std::exchange(index[axis], 0) * strides[axis];
    } while (true);
  }
}

Tensor row_major(const Tensor& fortran) {
  Tensor result(fortran.dtype(), fortran.shape());
  const auto as_integers = [&]<class T>(T) {
    reorder(static_cast<const T*>(fortran.data()), static_cast<T*>(result.data()), result.shape());
  };
  switch (dtype_bytes(fortran.dtype())) {
    case 1:
      as_integers(std::uint8_t{});
      break;
    case 2:
      as_integers(std::uint16_t{});
      break;
    case 4:
      as_integers(std::uint32_t{});
      break;
    default:
      as_integers(std::uint64_t{});
      break;
  }
  return result;
}

}  // namespace

Tensor read_npy(ByteReader& reader) {
  const NpyHeader header = read_npy_header(reader);
  const std::optional<Index> bytes = bytes_of_shape(header.dtype, header.shape);
  if (!bytes) reader.fail("header: shape", "less than 2^63 bytes", shape_text(header.shape));
  if (static_cast<std::uint64_t>(*bytes) != reader.remaining()) {
    reader.fail("data", fmt::format("{} bytes for {} {}", *bytes, dtype_name(header.dtype), shape_text(header.shape)),
                std::to_string(reader.remaining()));
  }
  Tensor tensor = read_elements(reader, header.dtype, header.shape, header.swapped, "data");
  return header.fortran_order && header.shape.size() > 1 && tensor.size() > 0 ? row_major(tensor) : std::move(tensor);
}

Tensor read_npy(std::string_view bytes, const std::string& name) { return read_npy(*memory_reader(bytes, name)); }

Tensor read_npy_file(const std::string& path) { return read_npy(*file_reader(path)); }

void write_npy(OutputFile& file, Dtype dtype, std::span<const Index> shape, const void* elements) {
  file.write(npy_header(dtype, shape));
  file.write({static_cast<const char*>(elements), static_cast<std::size_t>(*element_count(shape)) * dtype_bytes(dtype)});
}

void write_npy(OutputFile& file, const Tensor& tensor) { write_npy(file, tensor.dtype(), tensor.shape(), tensor.data()); }

}  // namespace attn
