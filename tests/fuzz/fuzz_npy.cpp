// Any bytes as a .npy file. What is read is written and read again, and must be the same.
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/read_or_refuse.h"
#include "io/npy.h"
#include "io/npy_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Twice for the tensor read from Fortran order, once for the second reading.
  return attn::read_or_refuse(data, size, 3, [](std::string_view bytes) {
    const attn::Tensor first = attn::read_npy(bytes, "fuzz");
    std::string again = attn::npy_header(first.dtype(), first.shape());
    again.append(static_cast<const char*>(first.data()), first.bytes());
    const attn::Tensor second = attn::read_npy(again, "again");
    if (first.dtype() != second.dtype() || first.shape() != second.shape()) std::abort();
    if (first.bytes() > 0 && std::memcmp(first.data(), second.data(), first.bytes()) != 0) std::abort();
  });
}
