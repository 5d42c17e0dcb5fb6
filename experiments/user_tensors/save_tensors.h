// The .npy files that a run is to write, opened before it starts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/output_file.h"
#include "io/tensor.h"

namespace attn {

class TensorFiles {
 public:
  // Opens `path`, unless it is empty, for what `option` saves. Throws FileError where it cannot be written, UsageError where it was named
  // before or where its name says another format.
  void open(const std::string& option, const std::string& path);

  // Writes and renames the file that was opened for `option`, if any. Throws FileError.
  void save(const std::string& option, const Tensor& tensor);

 private:
  struct Entry {
    std::string option;
    std::unique_ptr<OutputFile> file;
  };
  std::vector<Entry> entries_;
};

}  // namespace attn
