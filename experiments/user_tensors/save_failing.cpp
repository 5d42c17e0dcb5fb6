#include "user_tensors/save_failing.h"

#include <filesystem>

#include "io/npy.h"
#include "machine/error.h"

namespace attn {

void save_failing(const std::string& folder, const CallInputs& inputs, const Tensor& expected, const Tensor& found) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(folder + ": create: " + error.message());
  const auto save = [&folder](const char* name, const Tensor& tensor) {
    OutputFile file((std::filesystem::path(folder) / name).string());
    write_npy(file, tensor);
    file.commit();
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
