// Hugging Face's .safetensors files.
//
//   header's length: 8 bytes, little-endian | header: JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …} | data
//
// Offsets count from the end of the header; together the tensors cover the data without gaps or overlaps. "__metadata__" holds texts.
// Format: https://github.com/huggingface/safetensors
#pragma once

#include <string>
#include <string_view>

#include "io/byte_reader.h"
#include "io/member.h"
#include "io/tensor.h"

namespace attn {

// One tensor of those in `reader`: F16, BF16, F32, F64, BOOL, I8 to I64, U8 to U64. The header is checked whole: types, shapes and ranges
// of all tensors. Memory is taken only for elements that are there.
// Throws FileError "<file>: <where>: expected X, found Y", MemoryError where memory does not suffice.
Tensor read_safetensors(ByteReader& reader, const MemberName& member);

// From memory; `name` is for errors.
Tensor read_safetensors(std::string_view bytes, const std::string& name, const MemberName& member);

}  // namespace attn
