// Any bytes as a .npz archive: every array in it is read.
#include <string>

#include "fuzz/read_or_refuse.h"
#include "io/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Deflate reaches 1032 times; Fortran order takes that twice.
  return attn::read_or_refuse(data, size, 2 * 1032, [](std::string_view bytes) {
    const attn::NpzArchive archive = attn::NpzArchive::from_memory(bytes, "fuzz");
    for (const std::string& name : archive.names()) {
      try {
        archive.read(name);
      } catch (const attn::FileError&) {
        continue;  // the others may be sound
      }
    }
  });
}
