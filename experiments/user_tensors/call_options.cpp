#include "user_tensors/call_options.h"

#include <fmt/format.h>

#include "machine/error.h"
#include "options/number_list.h"
#include "options/options.h"

namespace attn {
namespace {

Index parse_offset(const std::string& text) {
  if (text.starts_with("-")) return -parse_size("--q-offset", std::string_view(text).substr(1), 0);
  return parse_size("--q-offset", text, 0);
}

Index parse_window_side(std::string_view text) {
  if (text == "unlimited" || text == "-1") return unlimited;
  return parse_size("--window", text, 0);
}

void parse_window(const std::string& text, CallOptions& options) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) throw UsageError(fmt::format("--window: expected LEFT,RIGHT, found '{}'", text));
  options.window_left = parse_window_side(std::string_view(text).substr(0, comma));
  options.window_right = parse_window_side(std::string_view(text).substr(comma + 1));
  if (!options.has_window()) throw UsageError("--window: expected a limit on one side at least, found none");
}

double parse_softcap(const std::string& text) {
  const double softcap = parse_number("--softcap", text);
  if (!(softcap > 0)) throw UsageError(fmt::format("--softcap: expected a number above 0, found '{}'", text));
  return softcap;
}

void add_tensor_options(CLI::App& app, CallOptions& options) {
  const auto add = [&app](const char* name, std::string& target, const char* help) { return add_text(app, name, "FILE", target, help); };
  add("--q", options.q, "Queries: .npy, .npz#member or .safetensors#tensor").required();
  add("--k", options.k, "Keys").required();
  add("--v", options.v, "Values").required();
  add("--mask", options.mask, "bool: true takes part; floating point: added to the scores; broadcast to (batch, heads, seq_q, seq_k)");
  add("--past-k", options.past_k, "Keys before those of --k; the queries stand behind them");
  add("--past-v", options.past_v, "Values before those of --v");
  add("--kv-lengths", options.kv_lengths,
      "One integer per batch: keys from there on are padding, and the last query stands at the last key before it");
  const std::vector<std::pair<std::string, Layout>> layouts = {{"hnd", Layout::hnd}, {"nhd", Layout::nhd}, {"packed", Layout::packed}};
  add_choice(app, "--layout", options.layout, layouts, "(…, heads, seq, dim), (…, seq, heads, dim) or (batch, seq, heads * dim)")
      .default_str("hnd");
  add_size(app, "--num-heads", options.num_heads, "Query heads, for --layout packed").default_str("");
  add_size(app, "--num-kv-heads", options.num_kv_heads, "Key and value heads, for --layout packed").default_str("--num-heads");
}

void add_position_options(CLI::App& app, CallOptions& options) {
  add_flag(app, "--causal", options.causal, "Query i sees key j where j <= i + offset");
  const std::vector<std::pair<std::string, std::optional<Alignment>>> alignments = {{"top-left", Alignment::top_left},
                                                                                    {"bottom-right", Alignment::bottom_right}};
  add_choice(app, "--align", options.align, alignments, "Offset 0, or seq_k - seq_q");
  add_parsed(
      app, "--q-offset", "N", [&options](const std::string& text) { options.q_offset = parse_offset(text); },
      "Position of the first query among the keys");
  add_parsed(
      app, "--window", "LEFT,RIGHT", [&options](const std::string& text) { parse_window(text, options); },
      "Keys a query sees before and after its own position; a side may be 'unlimited'");
}

void refuse_ignored(bool given, const char* option, const char* without) {
  if (given) throw UsageError(fmt::format("{}: expected {} beside it, found none", option, without));
}

}  // namespace

void add_call_options(CLI::App& app, CallOptions& options) {
  add_tensor_options(app, options);
  add_position_options(app, options);
  add_parsed(
      app, "--scale", "X", [&options](const std::string& text) { options.scale = parse_number("--scale", text); },
      "Factor of the scores (default: 1 / sqrt(dim))");
  add_parsed(
      app, "--softcap", "X", [&options](const std::string& text) { options.softcap = parse_softcap(text); },
      "Scores s become softcap tanh(s / softcap), before the mask");
  const std::vector<std::pair<std::string, std::optional<Dtype>>> precisions = {{"f32", Dtype::f32}, {"f64", Dtype::f64}};
  add_choice(app, "--softmax-precision", options.softmax_precision, precisions,
             "Type that everything is computed in, at least (default: f32, f64 for float64)");
}

void check_call_options(const CallOptions& options) {
  const bool packed = options.layout == Layout::packed;
  const bool has_position = options.causal || options.has_window();
  refuse_ignored(!packed && options.num_heads > 0, "--num-heads", "--layout packed");
  refuse_ignored(!packed && options.num_kv_heads > 0, "--num-kv-heads", "--layout packed");
  refuse_ignored(packed && options.num_heads == 0, "--layout packed", "--num-heads");
  refuse_ignored(options.align && !has_position, "--align", "--causal or --window");
  refuse_ignored(options.q_offset && !has_position, "--q-offset", "--causal or --window");
  refuse_ignored(!options.past_k.empty() && options.past_v.empty(), "--past-k", "--past-v");
  refuse_ignored(!options.past_v.empty() && options.past_k.empty(), "--past-v", "--past-k");
  std::vector<const char*> offsets;  // the options that say where the queries stand
  if (options.align) offsets.push_back("--align");
  if (options.q_offset) offsets.push_back("--q-offset");
  if (!options.past_k.empty()) offsets.push_back("--past-k");
  if (!options.kv_lengths.empty()) offsets.push_back("--kv-lengths");
  if (offsets.size() > 1) {
    throw UsageError(fmt::format("{}, {}: expected one option that places the queries, found both", offsets[0], offsets[1]));
  }
}

Json call_args(const CallOptions& options) {
  Json args = {{"q", options.q}, {"k", options.k}, {"v", options.v}};
  const auto add = [&args](const char* name, const std::string& text) {
    if (!text.empty()) args[name] = text;
  };
  constexpr const char* layouts[] = {"hnd", "nhd", "packed"};
  add("mask", options.mask);
  add("past_k", options.past_k);
  add("past_v", options.past_v);
  add("kv_lengths", options.kv_lengths);
  add("layout", layouts[static_cast<int>(options.layout)]);
  if (options.num_heads > 0) args["num_heads"] = options.num_heads;
  if (options.num_kv_heads > 0) args["num_kv_heads"] = options.num_kv_heads;
  args["causal"] = options.causal;
  if (options.align) args["align"] = *options.align == Alignment::top_left ? "top-left" : "bottom-right";
  if (options.q_offset) args["q_offset"] = *options.q_offset;
  if (options.window_left != unlimited) args["window_left"] = options.window_left;
  if (options.window_right != unlimited) args["window_right"] = options.window_right;
  if (options.scale) args["scale"] = *options.scale;
  if (options.softcap > 0) args["softcap"] = options.softcap;
  if (options.softmax_precision) args["softmax_precision"] = std::string(dtype_name(*options.softmax_precision));
  return args;
}

}  // namespace attn
