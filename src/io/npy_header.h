// The header of a .npy file: what NumPy wrote before the elements (numpy.lib.format, versions 1.0 to 3.0).
//
//   "\x93NUMPY" | version: 2 bytes | header's length: 2 bytes, from version 2.0 on 4, little-endian | header, ending in a newline |
//   elements
//
// The header is a Python literal: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/byte_reader.h"
#include "io/tensor.h"

namespace attn {

struct NpyHeader {
  Dtype dtype = Dtype::f64;
  bool swapped = false;        // elements are in the other byte order
  bool fortran_order = false;  // the first dimension varies fastest
  std::vector<Index> shape;
};

// Reads up to the first element. Throws FileError, with "header: …" as the place, for anything but a plain array of numbers.
NpyHeader read_npy_header(ByteReader& reader);

// What np.save writes before the elements of a C-ordered array, byte for byte.
std::string npy_header(Dtype dtype, std::span<const Index> shape);

}  // namespace attn
