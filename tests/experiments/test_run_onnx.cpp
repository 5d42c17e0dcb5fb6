// ONNX's own test cases of its operator Attention (data/onnx_attention/), through the code of `attn run`, by every algorithm.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "experiments/user_calls.h"
#include "io/tensor_file.h"

using namespace attn;

namespace {

const std::string folder = ATTN_DATA_DIR "/onnx_attention/";

// ONNX's codes of types: 1 is float32, 11 float64.
std::optional<Dtype> dtype_of_code(int code) { return code == 1 ? Dtype::f32 : Dtype::f64; }

Index window_side(const Json& attributes, const char* name) {
  const Index size = attributes.value(name, Index{-1});
  return size < 0 ? unlimited : size;
}

// What a user would say for these attributes and inputs.
CallOptions options_of(const Json& test, const std::map<std::string, std::string>& locations) {
  const Json& attributes = test["attributes"];
  const auto location = [&](const char* role) { return locations.contains(role) ? locations.at(role) : ""; };
  CallOptions options;
  options.q = location("q");
  options.k = location("k");
  options.v = location("v");
  options.mask = location("mask");
  options.past_k = location("past_k");
  options.past_v = location("past_v");
  options.kv_lengths = location("kv_lengths");
  if (attributes.contains("q_num_heads")) {
    options.layout = Layout::packed;
    options.num_heads = attributes["q_num_heads"];
    options.num_kv_heads = attributes["kv_num_heads"];
  }
  options.causal = attributes.value("is_causal", 0) != 0;
  options.window_left = window_side(attributes, "left_window_size");
  options.window_right = window_side(attributes, "right_window_size");
  if (attributes.contains("scale")) options.scale = attributes["scale"].get<double>();
  options.softcap = attributes.value("softcap", 0.0);
  if (attributes.contains("softmax_precision")) options.softmax_precision = dtype_of_code(attributes["softmax_precision"]);
  // ONNX aligns top-left where nothing else places the queries.
  const bool placed = !options.past_k.empty() || !options.kv_lengths.empty();
  if ((options.causal || options.has_window()) && !placed) options.align = Alignment::top_left;
  return options;
}

std::optional<Tensor> present(const CallInputs& inputs, const CallOptions& options, bool keys) {
  const AttentionCall<float> call = make_call<float>(inputs, options);
  return keys ? call.present_k->converted(call.present_k->dtype()) : call.present_v->converted(call.present_v->dtype());
}

class OnnxCase {
 public:
  explicit OnnxCase(const Json& test) : test_(test) {
    for (const std::string role : test["arrays"]) locations_[role] = folder + test["name"].get<std::string>() + ".npz#" + role;
    options_ = options_of(test, locations_);
    inputs_.emplace(read_inputs(options_));
  }

  void check(Algorithm algorithm) const {
    INFO(algorithm_name(algorithm));
    WantedOutputs wanted;
    if (has("scores")) wanted.scores = static_cast<ScoresStage>(test_["attributes"].value("qk_matmul_output_mode", 0));
    if (wanted.scores && algorithm == Algorithm::fused) wanted.scores.reset();
    const CallOutputs outputs = run_user_call(*inputs_, options_, algorithm, wanted);
    compare("output", outputs.output);
    if (wanted.scores) compare("scores", *outputs.scores);
    if (has("present_k")) compare("present_k", *present(*inputs_, options_, true));
    if (has("present_v")) compare("present_v", *present(*inputs_, options_, false));
  }

 private:
  bool has(const char* role) const { return locations_.contains(role); }

  void compare(const char* role, const Tensor& found) const {
    INFO(role);
    const Tensor expected = read_tensor(locations_.at(role));
    CHECK(found.shape() == expected.shape());
    CHECK(found.dtype() == expected.dtype());
    const double rtol = std::max(test_["rtol"].get<double>(), found.dtype() == Dtype::bf16 ? 0x1p-6 : 0.0);
    CHECK(count_beyond(found, expected, rtol, test_["atol"]) == 0);
  }

  const Json& test_;
  std::map<std::string, std::string> locations_;
  CallOptions options_;
  std::optional<CallInputs> inputs_;
};

}  // namespace

TEST_CASE("all of ONNX's cases of Attention") {
  const Json all = Json::parse(std::ifstream(folder + "cases.json"));
  CHECK(all["cases"].size() == 93);
  for (const Json& test : all["cases"]) {
    INFO(test["name"].get<std::string>());
    const OnnxCase onnx_case(test);
    for (const Algorithm algorithm : {Algorithm::fused, Algorithm::standard, Algorithm::reference}) onnx_case.check(algorithm);
  }
}
