// Tensors in a folder of the test's own, and what stands on the command line for them.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/npy.h"
#include "io/read_file.h"
#include "io/tensor.h"
#include "support/temporary_folder.h"

// q (2, 4, 9, 16), k (2, 2, 13, 16) and v (2, 2, 13, 8) in float32.
class TensorFiles {
 public:
  TensorFiles() {
    save("q.npy", {2, 4, 9, 16}, 1);
    save("k.npy", {2, 2, 13, 16}, 2);
    save("v.npy", {2, 2, 13, 8}, 3);
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  // `name` with --q, --k, --v and what else there is. `suffix` tells other sets of files apart: q_nhd.npy.
  std::vector<std::string> command(const std::string& name, const std::vector<std::string>& more, const std::string& suffix = "") const {
    std::vector<std::string> words = {
        name, "--q", path("q" + suffix + ".npy"), "--k", path("k" + suffix + ".npy"), "--v", path("v" + suffix + ".npy")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Outcome run(const std::vector<std::string>& more, const std::string& suffix = "") const { return run_attn(command("run", more, suffix)); }
  Outcome check(const std::vector<std::string>& more, const std::string& suffix = "") const {
    return run_attn(command("check", more, suffix));
  }

  // Standard normals.
  void save(const std::string& name, const std::vector<attn::Index>& shape, unsigned seed, attn::Dtype dtype = attn::Dtype::f32) const {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    attn::Tensor tensor(attn::Dtype::f32, shape);
    for (float& value : tensor.as<float>()) value = normal(generator);
    write(name, tensor.converted(dtype));
  }

  void write(const std::string& name, const attn::Tensor& tensor) const {
    attn::OutputFile file(path(name));
    attn::write_npy(file, tensor);
    file.commit();
  }

  attn::Tensor read(const std::string& name) const { return attn::read_npy_file(path(name)); }

 private:
  attn::TemporaryFolder folder_;
};

// Words of a command line, one after the other.
inline std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Runs with `options` into `name`, by the reference: two ways of saying the same give the same bytes.
inline void run_into(const TensorFiles& files, const std::string& name, const std::vector<std::string>& options,
                     const std::string& suffix = "") {
  const Outcome outcome =
      files.run(options + std::vector<std::string>{"--algorithm", "reference", "--save-output", files.path(name)}, suffix);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
}

inline bool same_bytes(const TensorFiles& files, const std::string& a, const std::string& b) {
  return attn::read_file(files.path(a)) == attn::read_file(files.path(b));
}

// A bool mask (seq_q, seq_k) of what `visible` says.
inline void write_mask(const TensorFiles& files, const std::string& name,
                       const std::function<bool(attn::Index i, attn::Index j)>& visible) {
  attn::Tensor mask(attn::Dtype::boolean, {9, 13});
  for (attn::Index at = 0; at < mask.size(); ++at) static_cast<bool*>(mask.data())[at] = visible(at / 13, at % 13);
  files.write(name, mask);
}
