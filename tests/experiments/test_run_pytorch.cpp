// PyTorch's 388 outputs (data/pytorch/): `attn check` finds them right, and distorted ones wrong; `attn run` agrees with their truth.
#include <algorithm>

#include "catch.h"
#include "experiments/check_call.h"
#include "experiments/pytorch_calls.h"

using namespace attn;

namespace {

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
  for_each_pytorch_call([&](const PytorchCall& call) {
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
  if (!sanitized) CHECK(all_zero == 4);
}

TEST_CASE("what attn run gives for PyTorch's inputs passes, by every algorithm") {
  for_each_pytorch_call([](const PytorchCall& call) {
    for (const Algorithm algorithm : {Algorithm::fused, Algorithm::standard, Algorithm::reference}) {
      INFO(algorithm_name(algorithm));
      const CallOutputs outputs = run_user_call(call.inputs, call.options, algorithm, {});
      CHECK(outputs.output.shape() == call.output.shape());
      CHECK(judge_user_call(call.inputs, call.options, outputs.output).beyond == 0);
    }
  });
}
