// `attn check`: is an attention output right, and if not, what is wrong?
#include <memory>

#include "experiment.h"

#include "io/tensor_file.h"
#include "machine/error.h"
#include "options/options.h"
#include "report/fingerprint.h"
#include "user_tensors/attention_call.h"
#include "user_tensors/check_report.h"
#include "user_tensors/output_precision.h"
#include "user_tensors/run_call.h"
#include "user_tensors/save_failing.h"
#include "verify/judge.h"

namespace attn {
namespace {

struct CheckOptions {
  CallOptions call;
  std::string expect_output;
  std::string save_failing;
  std::optional<Dtype> accumulate;
  bool strict = false;
  bool all = false;
  Seed seed;
};

// The output under test, in the queries' layout.
struct FoundOutput {
  NamedTensor file;
  Matrix<double> values;
  Arrangement arrangement;
};

template <class T>
FoundOutput read_output(const CheckOptions& options, const CallInputs& inputs, const AttentionCall<T>& call) {
  NamedTensor file{options.expect_output, read_tensor(options.expect_output)};
  if (!is_floating_point(file.tensor.dtype())) {
    throw UsageError(
        fmt::format("{}: type: expected float16, bfloat16, float32 or float64, found {}", file.name, dtype_name(file.tensor.dtype())));
  }
  const std::vector<Index> expected = call.output_arrangement.shape();
  if (file.tensor.shape() != expected) {
    throw UsageError(fmt::format("{} with {} and {}: shape: expected {}, found {}", file.name, named_shape(inputs.q), named_shape(inputs.v),
                                 shape_text(expected), shape_text(file.tensor.shape())));
  }
  Matrix<double> values = file.tensor.to_matrix<double>();
  return {std::move(file), std::move(values), call.output_arrangement};
}

// What `standard` gives for the call, rounded to `dtype`; `fused`, as exact and without a score matrix, where rows are only sampled.
// Nothing for 16-bit types: there the weights are rounded too, which the judge does itself.
template <class T>
std::optional<Matrix<double>> standard_output(const AttentionCall<T>& call, Dtype dtype, bool all_rows) {
  if (dtype_bytes(dtype) < sizeof(float)) return std::nullopt;
  const CallOutputs outputs = run_call(call, all_rows ? Algorithm::standard : Algorithm::fused, {});
  return outputs.output.converted(dtype).to_matrix<double>();
}

template <class T>
Report check_call(const CallInputs& inputs, const CheckOptions& options, FailingFolder* folder) {
  const AttentionCall<T> call = make_call<T>(inputs, options.call);
  const FoundOutput found = read_output(options, inputs, call);
  const Dtype dtype = found.file.tensor.dtype();
  const std::vector<Index> rows = rows_to_judge(call.shape, options.all, SeedSequence(options.seed).generate_state_u64(1).front());
  const bool all_rows = static_cast<Index>(rows.size()) == call.shape.seq_q;
  JudgeSettings settings;
  settings.tolerance = tolerance_for(dtype, dtype_of<T>(), options.accumulate);
  settings.round = [dtype](double value) { return rounded_to(dtype, value); };
  const auto standard = standard_output(call, dtype, all_rows);
  if (standard) settings.standard = found.arrangement.view(standard->data());
  Tensor expected(Dtype::f64, call.output_arrangement.shape());
  std::fill_n(expected.as<double>().data(), expected.size(), std::numeric_limits<double>::quiet_NaN());
  settings.expected = found.arrangement.view(expected.as<double>().data());
  Tensor unused(dtype_of<T>(), call.output_arrangement.shape());
  const Judgement judgement =
      judge(call.tensors(unused.as<T>().data()), call.options, found.arrangement.view(found.values.data()), rows, settings);
  const CheckedCall checked{mask_text(call),    call.shape,
                            call.dtype,         dtype,
                            found.arrangement,  options.accumulate,
                            all_rows,           options.strict,
                            input_hash(inputs), Fingerprint().add(found.file.tensor.data(), found.file.tensor.bytes()).text()};
  if (judgement.beyond > 0 && folder) folder->save(inputs, expected, found.file.tensor);
  return check_report(checked, judgement, settings.tolerance);
}

Report check(const CheckOptions& options) {
  check_call_options(options.call);
  std::optional<FailingFolder> folder;
  if (!options.save_failing.empty()) folder.emplace(options.save_failing);
  const CallInputs inputs = read_inputs(options.call);
  const bool wide = compute_dtype(inputs, options.call) == Dtype::f64;
  FailingFolder* failing = folder ? &*folder : nullptr;
  Report report = wide ? check_call<double>(inputs, options, failing) : check_call<float>(inputs, options, failing);
  report.args = call_args(options.call);
  report.args["expect_output"] = options.expect_output;
  report.args["strict"] = options.strict;
  report.args["all"] = options.all;
  report.args["seed"] = options.seed.text();
  if (options.accumulate) report.args["accumulate"] = std::string(dtype_name(*options.accumulate));
  if (!options.save_failing.empty()) report.args["save_failing"] = options.save_failing;
  return report;
}

std::function<Report(Session&)> set_up_check(CLI::App& app) {
  const auto options = std::make_shared<CheckOptions>();
  add_call_options(app, options->call);
  add_text(app, "--expect-output", "FILE", options->expect_output, "The output to check, in the layout of the queries").required();
  const std::vector<std::pair<std::string, std::optional<Dtype>>> sums = {{"f16", Dtype::f16}, {"bf16", Dtype::bf16}};
  add_choice(app, "--accumulate", options->accumulate, sums, "Type the sums were kept in, where it has 16 bits: allows more");
  add_flag(app, "--strict", options->strict, "Exit 1 for MARGINAL too, and for known mistakes that these inputs would not show");
  add_flag(app, "--all", options->all, "Check all rows of large inputs instead of a sample");
  add_seed(app, options->seed);
  add_text(app, "--save-failing", "FOLDER", options->save_failing, "On FAIL keep inputs, expected and found output in this folder");
  return [options, &app](Session&) {
    Report report = check(*options);
    report.blocks.front().rows.front().exact("repro", command_of(app));
    return report;
  };
}

}  // namespace

Experiment check() { return {"check", "Whether an attention output is right, and if not, what is wrong", {}, set_up_check}; }

}  // namespace attn
