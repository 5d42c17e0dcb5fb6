// The elements of a tensor out of a file, made this machine's own.
#pragma once

#include <string_view>
#include <vector>

#include "io/byte_reader.h"
#include "io/tensor.h"

namespace attn {

// The next bytes of `reader` as a tensor; with `swapped` they are in the other byte order. Throws FileError, before anything is allocated,
// where fewer bytes remain, and MemoryError where memory does not suffice. `where` is for errors.
Tensor read_elements(ByteReader& reader, Dtype dtype, const std::vector<Index>& shape, bool swapped, std::string_view where);

}  // namespace attn
