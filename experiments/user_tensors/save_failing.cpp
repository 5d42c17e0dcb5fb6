#include "user_tensors/save_failing.h"

#include <filesystem>

#include "io/npy.h"
#include "machine/error.h"

namespace attn {

FailingFolder::FailingFolder(std::string path) : path_(std::move(path)) {
  std::error_code error;
  made_ = std::filesystem::create_directories(path_, error);
  if (error) throw FileError(path_ + ": create: " + error.message());
  OutputFile(file("found.npy"));
}

FailingFolder::~FailingFolder() {
  std::error_code not_empty;
  if (made_) std::filesystem::remove(path_, not_empty);
}

std::string FailingFolder::file(const char* name) const { return (std::filesystem::path(path_) / name).string(); }

void FailingFolder::save(const CallInputs& inputs, const Tensor& expected, const Tensor& found) const {
  const auto save = [this](const char* name, const Tensor& tensor) {
    OutputFile output(file(name));
    write_npy(output, tensor);
    output.commit();
  };
  const auto save_given = [&save](const char* name, const std::optional<NamedTensor>& tensor) {
    if (tensor) save(name, tensor->tensor);
  };
  save("q.npy", inputs.q.tensor);
  save("k.npy", inputs.k.tensor);
  save("v.npy", inputs.v.tensor);
  save_given("mask.npy", inputs.mask);
  save_given("past_k.npy", inputs.past_k);
  save_given("past_v.npy", inputs.past_v);
  save_given("kv_lengths.npy", inputs.kv_lengths);
  save("expected.npy", expected);
  save("found.npy", found);
}

}  // namespace attn
