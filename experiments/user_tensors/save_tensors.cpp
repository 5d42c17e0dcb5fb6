#include "user_tensors/save_tensors.h"

#include <fmt/format.h>

#include "io/npy.h"
#include "machine/error.h"

namespace attn {

void TensorFiles::open(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  for (const char* other : {".npz", ".safetensors"}) {
    if (path.ends_with(other)) throw UsageError(fmt::format("{}: expected the name of a .npy file, found '{}'", option, path));
  }
  for (const Entry& entry : entries_) {
    if (entry.file->path() == path)
      throw UsageError(fmt::format("{}: expected another file than {}, found '{}'", option, entry.option, path));
  }
  entries_.push_back({option, std::make_unique<OutputFile>(path)});
}

void TensorFiles::save(const std::string& option, const Tensor& tensor) {
  for (Entry& entry : entries_) {
    if (entry.option != option) continue;
    write_npy(*entry.file, tensor);
    entry.file->commit();
  }
}

}  // namespace attn
