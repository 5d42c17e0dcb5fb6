#include "timing/timing_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "machine/error.h"
#include "options/number_list.h"
#include "options/options.h"
#include "options/split.h"
#include "sweep/axes.h"

namespace attn {
namespace {

Index parse_window_side(const std::string& text) { return text == "unlimited" ? unlimited : parse_size("--window", text, 0); }

void parse_window(const std::string& text, Modifiers& modifiers) {
  const std::vector<std::string> sides = split(text, ',');
  if (sides.size() != 2) throw UsageError(fmt::format("--window: expected LEFT,RIGHT, found '{}'", text));
  modifiers.window_left = parse_window_side(sides[0]);
  modifiers.window_right = parse_window_side(sides[1]);
}

void parse_softcap(const std::string& text, Modifiers& modifiers) {
  modifiers.softcap = parse_number("--softcap", text);
  if (modifiers.softcap <= 0) throw UsageError(fmt::format("--softcap: expected a number above 0, found '{}'", text));
}

Json names(const std::vector<Work>& what) {
  Json all = Json::array();
  for (const Work work : what) all.push_back(name_of(work));
  return all;
}

// Sizes that follow from others where they were not given: null then.
Json given_sizes(const std::vector<Index>& sizes) { return sizes == std::vector<Index>{0} ? Json() : Json(sizes); }

Json window_side(Index keys) { return keys == unlimited ? Json() : Json(keys); }

TimingAxes add_axes(CLI::App& app, TimingOptions& options) {
  TimingAxes axes{};
  axes.n = add_sizes(app, "--n", options.n, "Numbers of queries and keys (decode: keys)").default_str("512..4096");
  axes.n_k = add_sizes(app, "--n-k,--nk", options.n_k, "Numbers of keys").default_str("n");
  axes.d = add_sizes(app, "--d,--d-k,--dk", options.d, "Widths of queries and keys (gemm: inner size)").default_str("64, gemm: n");
  axes.d_v = add_sizes(app, "--d-v,--dv", options.d_v, "Widths of values").default_str("d");
  axes.heads = add_sizes(app, "--heads", options.heads, "Query heads");
  axes.kv_heads =
      add_sizes(app, "--kv-heads", options.kv_heads, "Key and value heads, each shared by a group of query heads").default_str("heads");
  axes.batch = add_sizes(app, "--batch", options.batch, "Batch sizes");
  axes.dtype = add_dtypes(app, options.dtype);
  return axes;
}

void add_what(CLI::App& app, TimingOptions& options) {
  const auto parse_what = [&options](const std::string& text) {
    options.what.clear();
    for (const std::string& name : split(text, ',')) options.what.push_back(parse_work(name));
  };
  add_parsed(app, "--what", "scores|standard|fused|decode|gemm,...", parse_what, "What to time; several run interleaved at each size")
      .default_str("scores");
  add_flag(app, "--causal", options.modifiers.causal, "Each query sees the keys up to its own position; the last query the last key");
  add_parsed(
      app, "--window", "LEFT,RIGHT", [&options](const std::string& text) { parse_window(text, options.modifiers); },
      "Each query sees so many keys before and after its own position; 'unlimited' for either");
  add_parsed(
      app, "--softcap", "CAP", [&options](const std::string& text) { parse_softcap(text, options.modifiers); },
      "Scores become CAP tanh(score / CAP)");
}

void add_measuring(CLI::App& app, TimingOptions& options) {
  add_text(app, "--protocol", "article|steady", options.protocol, "article is document 1's way, the default for scores alone");
  add_texts(app, "--vs", "NAME=PATH", options.vs, "Time this BLAS library's product on the same operands: NAME=PATH of a shared library");
  add_measuring_options(app, options);
  add_flag(app, "--stats", options.stats, "Further lines on each row: rates, samples, memory, fitted exponents");
  add_flag(app, "--explain", options.explain, "Measure the parts of document 1's table on this machine, at the largest n");
}

}  // namespace

TimingAxes add_timing_options(CLI::App& app, TimingOptions& options) {
  add_what(app, options);
  const TimingAxes axes = add_axes(app, options);
  add_measuring(app, options);
  add_seed(app, options.seed);
  add_advance(app, options.advance);
  return axes;
}

std::vector<TimingPoint> points_of(const TimingOptions& options, const TimingAxes& axes, const CLI::App& app) {
  std::vector<Index> dtypes;
  for (const Precision precision : options.dtype) dtypes.push_back(static_cast<Index>(precision));
  const std::vector<Axis> all = {
      {axes.dtype, dtypes}, {axes.batch, options.batch}, {axes.heads, options.heads}, {axes.kv_heads, options.kv_heads},
      {axes.d, options.d},  {axes.d_v, options.d_v},     {axes.n, options.n},         {axes.n_k, options.n_k}};
  std::vector<TimingPoint> points;
  for (const std::vector<Index>& c : combinations(all, &app)) {
    TimingPoint point{c[6], c[7] == 0 ? c[6] : c[7], c[4], c[5] == 0 ? c[4] : c[5],     axes.d.given() ? c[4] : c[6],
                      c[2], c[3] == 0 ? c[2] : c[3], c[1], static_cast<Precision>(c[0])};
    if (point.heads % point.kv_heads != 0) {
      throw UsageError(fmt::format("--kv-heads: expected a divisor of {} heads, found {}", point.heads, point.kv_heads));
    }
    points.push_back(point);
  }
  return points;
}

void check_explain(const TimingOptions& options, const TimingAxes& axes) {
  if (!options.explain) return;
  bool others = options.dry_run || options.stats || options.reps > 0 || options.what != std::vector<Work>{Work::scores} ||
                !options.protocol.empty() || !options.vs.empty() || options.dtype != std::vector<Precision>{Precision::f64};
  for (const AddedOption& axis : {axes.batch, axes.heads, axes.kv_heads, axes.d_v, axes.n_k}) others = others || axis.given();
  if (others) throw UsageError("--explain: expected --n, --d and --seed at most beside it, found others");
}

void check_used(const TimingOptions& options, const TimingAxes& axes) {
  const auto require = [&options](const char* option, bool given, bool (*uses)(Work)) {
    if (!given || std::any_of(options.what.begin(), options.what.end(), uses)) return;
    std::vector<std::string_view> works;
    for (const Work work : options.what) works.push_back(name_of(work));
    throw UsageError(fmt::format("{}: expected a --what that has it, found {} alone", option, fmt::join(works, ",")));
  };
  const Modifiers& modifiers = options.modifiers;
  require("--n-k", axes.n_k.given(), has_n_k);
  require("--d-v", axes.d_v.given(), has_values);
  require("--heads", axes.heads.given(), has_heads);
  require("--kv-heads", axes.kv_heads.given(), has_heads);
  require("--batch", axes.batch.given(), has_heads);
  require("--causal", modifiers.causal, has_values);
  require("--window", modifiers.window_left != unlimited || modifiers.window_right != unlimited, has_values);
  require("--softcap", modifiers.softcap > 0, has_values);
}

bool article_protocol(const TimingOptions& options, const TimingAxes& axes) {
  if (!options.protocol.empty() && options.protocol != "article" && options.protocol != "steady") {
    throw UsageError(fmt::format("--protocol: expected article or steady, found '{}'", options.protocol));
  }
  const bool plain_scores = options.what == std::vector<Work>{Work::scores} && options.vs.empty() && !options.modifiers.any() &&
                            options.dtype == std::vector<Precision>{Precision::f64} && options.d.size() == 1 && options.reps == 0;
  bool other_axes = false;
  for (const AddedOption& axis : {axes.batch, axes.heads, axes.kv_heads, axes.d_v, axes.n_k}) other_axes = other_axes || axis.given();
  const bool possible = plain_scores && !other_axes && !options.stats;
  if (options.protocol == "article" && !possible) {
    throw UsageError("--protocol: article is document 1's measurement of float64 scores; the other options want steady");
  }
  return options.protocol.empty() ? possible : options.protocol == "article";
}

Json args_of(const TimingOptions& options, bool article) {
  Json dtypes = Json::array();
  for (const Precision precision : options.dtype) dtypes.push_back(name_of(precision));
  Json args = {
      {"what", names(options.what)}, {"n", options.n}, {"d", options.d}, {"dtype", dtypes}, {"protocol", article ? "article" : "steady"}};
  if (!article) {
    args["n_k"] = given_sizes(options.n_k);
    args["d_v"] = given_sizes(options.d_v);
    args["heads"] = options.heads;
    args["kv_heads"] = given_sizes(options.kv_heads);
    args["batch"] = options.batch;
    args["causal"] = options.modifiers.causal;
    args["window_left"] = window_side(options.modifiers.window_left);
    args["window_right"] = window_side(options.modifiers.window_right);
    args["softcap"] = options.modifiers.softcap;
    args["vs"] = options.vs;
    args["reps"] = options.reps == 0 ? Json() : Json(options.reps);
    args["max_time_s"] = options.max_time_s;
  }
  args["seed"] = options.seed.text();
  args["advance"] = to_string(options.advance);
  return args;
}

}  // namespace attn
