// Any bytes as a .safetensors file: its only tensor, or else the one named "a".
#include "fuzz/read_or_refuse.h"
#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return attn::read_or_refuse(data, size, 1, [](std::string_view bytes) {
    try {
      attn::read_safetensors(bytes, "fuzz", std::nullopt);
    } catch (const attn::FileError&) {
      attn::read_safetensors(bytes, "fuzz", "a");
    }
  });
}
