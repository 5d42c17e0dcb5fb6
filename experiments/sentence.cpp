#include "sentence.h"

#include "embedded_files.h"
#include "io/safetensors.h"
#include "report/json.h"

namespace attn {
namespace {

struct OwnedSentence {
  Tensor q, k, v;
  Sentence sentence;
};

Tensor read_part(const char* name) {
  constexpr const char* file = "sentence/qkv.safetensors";
  return read_safetensors(embedded_file(file), file, name);
}

TensorView<const float> view(const Tensor& tensor) {
  const std::vector<Index>& shape = tensor.shape();
  return TensorView<const float>::hnd(tensor.as<float>().data(), shape[0], shape[1], shape[2], shape[3]);
}

OwnedSentence read_sentence() {
  const Json about = Json::parse(embedded_file("sentence/sentence.json"));
  OwnedSentence all{read_part("q"), read_part("k"), read_part("v"), {}};
  all.sentence.text = about["text"].get<std::string>();
  all.sentence.tokens = about["tokens"].get<std::vector<std::string>>();
  all.sentence.model = about["model"].get<std::string>();
  // Moving a tensor leaves its elements where they are.
  all.sentence.q = view(all.q);
  all.sentence.k = view(all.k);
  all.sentence.v = view(all.v);
  return all;
}

}  // namespace

const Sentence& sentence() {
  static const OwnedSentence all = read_sentence();
  return all.sentence;
}

}  // namespace attn
