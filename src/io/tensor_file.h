// Tensors by the name a user gives: "q.npy", "inputs.npz#q", "model.safetensors#layer.0.q".
#pragma once

#include <string>

#include "io/member.h"
#include "io/tensor.h"

namespace attn {

// A file, and a tensor in it where the file can hold several.
struct TensorLocation {
  std::string path;
  MemberName member;
};

// The member stands behind the first '#' that follows ".npz" or ".safetensors"; any other '#' belongs to the path or to the member.
TensorLocation parse_location(const std::string& location);

// Reads by the path's suffix: .npz, .safetensors, and everything else (a pipe too) as .npy. Without a member, an archive must hold exactly
// one tensor. Throws FileError "<file>: <where>: expected X, found Y", MemoryError where memory does not suffice.
Tensor read_tensor(const std::string& location);

}  // namespace attn
