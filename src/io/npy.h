// NumPy's .npy files.
//
// Read: versions 1.0 to 3.0, C and Fortran order, both byte orders, float16, float32, float64, bool, integers of 8 to 64 bits, and
// bfloat16, which NumPy stores as two-byte void ("V2"). Written: what np.save writes, byte for byte.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/byte_reader.h"
#include "io/output_file.h"
#include "io/tensor.h"

namespace attn {

// One array from all that `reader` has; bytes behind it are an error. Memory is taken only for elements that are there.
// Throws FileError "<name>: <where>: expected X, found Y", MemoryError where memory does not suffice.
Tensor read_npy(ByteReader& reader);

// From memory; `name` is for errors.
Tensor read_npy(std::string_view bytes, const std::string& name);

Tensor read_npy_file(const std::string& path);

// `elements` are shape's product of elements of type `dtype`, row-major. Commits nothing. Throws FileError.
void write_npy(OutputFile& file, Dtype dtype, std::span<const Index> shape, const void* elements);
void write_npy(OutputFile& file, const Tensor& tensor);

}  // namespace attn
