// What fuzzing found once is read or refused for ever, also where there is no fuzzer.
#include <filesystem>
#include <functional>
#include <string>

#include "catch.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/read_file.h"
#include "io/safetensors.h"
#include "machine/error.h"

using namespace attn;

namespace {

struct Outcome {
  int read = 0;
  int refused = 0;
};

Outcome run(const std::string& folder, const std::function<void(const std::string& bytes)>& read) {
  Outcome outcome;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ATTN_DATA_DIR) + "/fuzz/" + folder)) {
    INFO(entry.path());
    try {
      read(read_file(entry.path()));
      ++outcome.read;
    } catch (const FileError& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
      ++outcome.refused;
    }
  }
  return outcome;
}

}  // namespace

TEST_CASE("inputs that fuzzing found are read or refused in one line") {
  const Outcome npy = run("npy", [](const std::string& bytes) { read_npy(bytes, "x"); });
  CHECK((npy.read >= 10 && npy.refused >= 10));
  const Outcome npz = run("npz", [](const std::string& bytes) {
    const NpzArchive archive = NpzArchive::from_memory(bytes, "x");
    for (const std::string& name : archive.names()) archive.read(name);
  });
  CHECK((npz.read >= 1 && npz.refused >= 10));
  const Outcome safetensors = run("safetensors", [](const std::string& bytes) { read_safetensors(bytes, "x", std::nullopt); });
  CHECK((safetensors.read >= 1 && safetensors.refused >= 10));
}
