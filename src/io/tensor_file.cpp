#include "io/tensor_file.h"

#include <algorithm>

#include "io/byte_reader.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/safetensors.h"

namespace attn {

TensorLocation parse_location(const std::string& location) {
  constexpr std::string_view npz = ".npz#";
  constexpr std::string_view safetensors = ".safetensors#";
  const std::size_t in_npz = location.find(npz);
  const std::size_t in_safetensors = location.find(safetensors);
  if (std::min(in_npz, in_safetensors) == std::string::npos) return {location, std::nullopt};
  const std::size_t hash = in_npz < in_safetensors ? in_npz + npz.size() - 1 : in_safetensors + safetensors.size() - 1;
  return {location.substr(0, hash), location.substr(hash + 1)};
}

Tensor read_tensor(const std::string& location) {
  const auto [path, member] = parse_location(location);
  if (path.ends_with(".npz")) return NpzArchive::from_file(path).read(member);
  if (path.ends_with(".safetensors")) return read_safetensors(*file_reader(path), member);
  return read_npy_file(path);
}

}  // namespace attn
