// PyTorch's 388 outputs (data/pytorch/): `attn check` finds them right, and distorted ones wrong; `attn run` agrees with their truth.
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "experiments/check_call.h"
#include "io/tensor_file.h"

using namespace attn;

namespace {

const std::string folder = ATTN_DATA_DIR "/pytorch/";

struct PytorchCall {
  std::string name;
  CallOptions options;
  CallInputs inputs;
  Tensor output, truth;
};

// What a user would say for this call.
CallOptions options_of(const Json& call, const std::string& file) {
  CallOptions options;
  options.q = file + "#q";
  options.k = file + "#k";
  options.v = file + "#v";
  if (call["mask"]) options.mask = file + "#mask." + call["name"].get<std::string>();
  if (!call["causal"].is_null()) {
    options.causal = true;
    options.align = call["causal"] == "top-left" ? Alignment::top_left : Alignment::bottom_right;
  }
  if (!call["scale"].is_null()) options.scale = call["scale"].get<double>();
  return options;
}

template <class Body>
void for_each_call(const Body& body) {
  const Json all = Json::parse(std::ifstream(folder + "cases.json"));
  std::size_t calls = 0;
  for (const Json& file : all["files"]) {
    const std::string path = folder + file["file"].get<std::string>();
    for (const Json& call : file["calls"]) {
      ++calls;
      const std::string name = call["name"];
      const CallOptions options = options_of(call, path);
      INFO(path << " " << name);
      body(PytorchCall{name, options, read_inputs(options), read_tensor(path + "#out." + name), read_tensor(path + "#out_f64." + name)});
    }
  }
  CHECK(calls == 388);
}

Tensor changed(const Tensor& tensor, double factor) {
  Tensor result = tensor.converted(Dtype::f64);
  for (double& value : result.as<double>()) value *= factor;
  return result.converted(tensor.dtype());
}

bool matches(const Judgement& judgement, const std::string& name) {
  return std::any_of(judgement.matches.begin(), judgement.matches.end(), [&](const Match& m) { return m.name == name; });
}

// Whether the known mistake of that name is there, and these inputs would show it.
bool shows(const Judgement& judgement, const std::string& name) {
  return std::any_of(judgement.mistakes.begin(), judgement.mistakes.end(),
                     [&](const MistakeVerdict& m) { return m.name == name && m.sight == MistakeVerdict::Sight::shows; });
}

}  // namespace

TEST_CASE("PyTorch's outputs pass, and its truth rounded; zeros and outputs that are off by a twentieth do not") {
  Index all_zero = 0;
  for_each_call([&](const PytorchCall& call) {
    const Judgement right = judge_user_call(call.inputs, call.options, call.output);
    CHECK(right.beyond == 0);
    CHECK(judge_user_call(call.inputs, call.options, call.truth.converted(call.output.dtype())).beyond == 0);
    // A single query that sees no key is rightly zero.
    const std::vector<double> truth = values_of(call.truth);
    if (std::all_of(truth.begin(), truth.end(), [](double x) { return x == 0; })) {
      ++all_zero;
      return;
    }
    // These make no difference where every query sees one key.
    const bool one_key = call.options.q.find("one_key") != std::string::npos;
    const bool first_key_only = call.name == "causal" && call.options.q.find("decode") != std::string::npos;
    CHECK((one_key || first_key_only || (shows(right, "mean of V") && shows(right, "unscaled scores"))));
    const Judgement zeros = judge_user_call(call.inputs, call.options, changed(call.output, 0));
    CHECK(zeros.beyond > 0);
    CHECK(matches(zeros, "zeros"));
    CHECK(shows(zeros, "zeros"));
    CHECK(judge_user_call(call.inputs, call.options, changed(call.output, 1.05)).beyond > 0);
  });
  CHECK(all_zero == 4);
}

TEST_CASE("what attn run gives for PyTorch's inputs passes, by every algorithm") {
  for_each_call([](const PytorchCall& call) {
    for (const Algorithm algorithm : {Algorithm::fused, Algorithm::standard, Algorithm::reference}) {
      INFO(algorithm_name(algorithm));
      const CallOutputs outputs = run_user_call(call.inputs, call.options, algorithm, {});
      CHECK(outputs.output.shape() == call.output.shape());
      CHECK(judge_user_call(call.inputs, call.options, outputs.output).beyond == 0);
    }
  });
}
