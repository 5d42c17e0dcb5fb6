// `attn run`: attention on tensors from files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "experiment.h"

#include "attention/visibility.h"
#include "machine/error.h"
#include "options/options.h"
#include "report/fingerprint.h"
#include "user_tensors/attention_call.h"
#include "user_tensors/run_call.h"
#include "user_tensors/save_tensors.h"

namespace attn {
namespace {

struct RunOptions {
  CallOptions call;
  std::optional<Algorithm> algorithm;
  std::optional<ScoresStage> stage;
  std::string save_output, save_weights, save_lse, save_scores, save_present_k, save_present_v;
};

WantedOutputs wanted_outputs(const RunOptions& options) {
  if (options.stage && options.save_scores.empty()) {
    throw UsageError("--scores-stage: expected --save-scores beside it, found none");
  }
  const bool has_past = !options.call.past_k.empty();
  if (!has_past && !(options.save_present_k.empty() && options.save_present_v.empty())) {
    throw UsageError(fmt::format("{}: expected --past-k and --past-v beside it, found none",
                                 options.save_present_k.empty() ? "--save-present-v" : "--save-present-k"));
  }
  WantedOutputs wanted{!options.save_lse.empty(), !options.save_weights.empty(), {}};
  if (!options.save_scores.empty()) wanted.scores = options.stage.value_or(ScoresStage::raw);
  return wanted;
}

constexpr std::pair<const char*, ScoresStage> stages[] = {
    {"raw", ScoresStage::raw}, {"capped", ScoresStage::capped}, {"masked", ScoresStage::masked}, {"softmax", ScoresStage::softmax}};

std::string_view stage_name(ScoresStage stage) {
  return std::find_if(std::begin(stages), std::end(stages), [stage](const auto& named) { return named.second == stage; })->first;
}

// The files to write, by the options that name them.
std::vector<std::pair<const char*, std::string>> saved_files(const RunOptions& options) {
  return {
      {"--save-output", options.save_output}, {"--save-weights", options.save_weights},     {"--save-lse", options.save_lse},
      {"--save-scores", options.save_scores}, {"--save-present-k", options.save_present_k}, {"--save-present-v", options.save_present_v}};
}

// "save_output" for "--save-output".
std::string member_name(std::string_view option) {
  std::string name(option.substr(2));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TensorFiles open_files(const RunOptions& options) {
  TensorFiles files;
  for (const auto& [option, path] : saved_files(options)) files.open(option, path);
  return files;
}

void save_all(TensorFiles& files, const CallOutputs& outputs, const std::optional<Tensor>& present_k,
              const std::optional<Tensor>& present_v) {
  files.save("--save-output", outputs.output);
  if (outputs.weights) files.save("--save-weights", *outputs.weights);
  if (outputs.lse) files.save("--save-lse", *outputs.lse);
  if (outputs.scores) files.save("--save-scores", *outputs.scores);
  if (present_k) files.save("--save-present-k", *present_k);
  if (present_v) files.save("--save-present-v", *present_v);
}

// What can be said of an output at a glance.
struct Summary {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double mean = 0;
  Index not_finite = 0;
};

Summary summarize(const Tensor& output) {
  const Matrix<double> values = output.to_matrix<double>();
  Summary summary;
  for (Index at = 0; at < values.size(); ++at) {
    const double value = values.data()[at];
    if (!std::isfinite(value)) {
      ++summary.not_finite;
      continue;
    }
    summary.smallest = std::min(summary.smallest, value);
    summary.largest = std::max(summary.largest, value);
    summary.mean += value;
  }
  summary.mean /= static_cast<double>(values.size() - summary.not_finite);
  return summary;
}

template <class T>
Row shape_fields(const AttentionCall<T>& call, Algorithm algorithm) {
  const AttentionShape& shape = call.shape;
  return Row()
      .exact("algorithm", std::string(algorithm_name(algorithm)))
      .exact("dtype", std::string(dtype_name(call.dtype)))
      .exact("batch", shape.batch)
      .exact("heads", shape.heads)
      .exact("kv_heads", shape.kv_heads)
      .exact("seq_q", shape.seq_q)
      .exact("seq_k", shape.seq_k)
      .exact("head_dim", shape.head_dim)
      .exact("head_dim_v", shape.head_dim_v)
      .exact("mask", mask_text(call))
      .exact("softmax_scale", softmax_scale_of(shape, call.options));
}

template <class T>
Block run_block(const AttentionCall<T>& call, Algorithm algorithm, const CallInputs& inputs, const CallOutputs& outputs) {
  Block block{0, "run", "attention on tensors from files"};
  const AttentionShape& s = call.shape;
  const Summary summary = summarize(outputs.output);
  const std::string name(dtype_name(call.dtype));
  block.text.line(fmt::format("batch {}, heads {} over {}, queries {}, keys {}, head_dim {}, head_dim_v {}, {}", s.batch, s.heads,
                              s.kv_heads, s.seq_q, s.seq_k, s.head_dim, s.head_dim_v, name));
  block.text.line(
      fmt::format("mask: {}; scale {:.6g}; algorithm {}", mask_text(call), softmax_scale_of(s, call.options), algorithm_name(algorithm)));
  block.text.line(fmt::format("output: {}", shape_text(outputs.output.shape())));
  Row& row = block.rows.emplace_back(shape_fields(call, algorithm)).exact("output_shape", outputs.output.shape());
  if (outputs.output.size() > summary.not_finite) {
    block.text.add(fmt::format(", from {:.6g} to {:.6g}, mean {:.6g}", summary.smallest, summary.largest, summary.mean));
    row.exact("min", summary.smallest).exact("max", summary.largest).exact("mean", summary.mean);
  }
  if (summary.not_finite > 0) block.text.add(fmt::format(", {} not finite", summary.not_finite));
  row.exact("flops", 2 * visible_pairs(s, call.options) * static_cast<double>(s.head_dim + s.head_dim_v));
  row.exact("flops_convention", "2 (d + d_v) per visible pair").exact("input_hash", input_hash(inputs));
  row.measured("output_hash", Fingerprint().add(outputs.output.data(), outputs.output.bytes()).text());
  row.exact("not_finite", summary.not_finite).exact("status", "passed");
  return block;
}

template <class T>
Block compute(const CallInputs& inputs, const RunOptions& options, Algorithm algorithm, const WantedOutputs& wanted, TensorFiles& files) {
  const AttentionCall<T> call = make_call<T>(inputs, options.call);
  const CallOutputs outputs = run_call(call, algorithm, wanted);
  save_all(files, outputs, call.present_k, call.present_v);
  return run_block(call, algorithm, inputs, outputs);
}

Report run(const RunOptions& options) {
  const WantedOutputs wanted = wanted_outputs(options);
  const Algorithm algorithm = resolve_algorithm(options.algorithm, wanted);
  check_call_options(options.call);
  TensorFiles files = open_files(options);
  const CallInputs inputs = read_inputs(options.call);
  Report report{"run"};
  report.tabular = true;
  report.headings = Headings::none;
  report.args = call_args(options.call);
  report.args["algorithm"] = std::string(algorithm_name(algorithm));
  if (wanted.scores) report.args["scores_stage"] = std::string(stage_name(*wanted.scores));
  for (const auto& [option, path] : saved_files(options)) {
    if (!path.empty()) report.args[member_name(option)] = path;
  }
  const bool wide = compute_dtype(inputs, options.call) == Dtype::f64;
  report.blocks.push_back(wide ? compute<double>(inputs, options, algorithm, wanted, files)
                               : compute<float>(inputs, options, algorithm, wanted, files));
  return report;
}

std::function<Report(Session&)> set_up_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  add_call_options(app, options->call);
  const std::vector<std::pair<std::string, std::optional<Algorithm>>> algorithms = {
      {"fused", Algorithm::fused}, {"standard", Algorithm::standard}, {"reference", Algorithm::reference}};
  add_choice(app, "--algorithm", options->algorithm, algorithms, "Default: fused, or standard where scores or weights are saved");
  const auto add_file = [&](const char* name, std::string& target, const char* help) { add_text(app, name, "FILE", target, help); };
  add_file("--save-output", options->save_output, "Write the output as .npy, in the layout and type of the queries");
  add_file("--save-weights", options->save_weights, "Write the weights, (batch, heads, seq_q, seq_k)");
  add_file("--save-lse", options->save_lse, "Write each row's log-sum-exp, (batch, heads, seq_q)");
  add_file("--save-scores", options->save_scores, "Write the scores at --scores-stage");
  const std::vector<std::pair<std::string, std::optional<ScoresStage>>> choices(std::begin(stages), std::end(stages));
  add_choice(app, "--scores-stage", options->stage, choices, "Scaled; after the softcap; after mask and causality; after the softmax");
  add_file("--save-present-k", options->save_present_k, "Write the keys with those of the past before them");
  add_file("--save-present-v", options->save_present_v, "Write the values with those of the past before them");
  return [options, &app](Session&) {
    Report report = run(*options);
    // Saved weights or scores choose the algorithm; without them it must be named.
    const std::string algorithm = options->algorithm ? "" : fmt::format(" --algorithm {}", report.args["algorithm"].get<std::string>());
    report.blocks.front().rows.front().exact("repro", command_of(app) + algorithm);
    return report;
  };
}

}  // namespace

Experiment run() { return {"run", "Attention on your own tensors", {}, set_up_run}; }

}  // namespace attn
