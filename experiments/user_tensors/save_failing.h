// What a failed check was about, kept for whoever wants to look into it.
#pragma once

#include <string>

#include "user_tensors/attention_call.h"

namespace attn {

// A folder that is made before the check, so that one that cannot be is found out at once, and that goes away again where nothing failed
// and it was not there before.
class FailingFolder {
 public:
  // Throws FileError where the folder cannot be made or written to.
  explicit FailingFolder(std::string path);
  ~FailingFolder();
  FailingFolder(const FailingFolder&) = delete;
  FailingFolder& operator=(const FailingFolder&) = delete;

  // Writes q.npy, k.npy, v.npy, the other inputs where there are any, expected.npy (float64; NaN for rows that were not checked) and
  // found.npy. Throws FileError.
  void save(const CallInputs& inputs, const Tensor& expected, const Tensor& found) const;

 private:
  std::string file(const char* name) const;

  std::string path_;
  bool made_ = false;
};

}  // namespace attn
