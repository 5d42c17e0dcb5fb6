// `attn timing-sweep`: how time and memory of scores, attention and products grow with their sizes, beside what the machine can do.
#include <algorithm>
#include <memory>
#include <set>

#include "experiment.h"

#include <CLI/CLI.hpp>
#include "machine/error.h"
#include "machine/threads.h"
#include "options/number_list.h"
#include "options/options.h"
#include "options/split.h"
#include "sweep/axes.h"
#include "timing/article.h"
#include "timing/explain.h"
#include "timing/measuring_options.h"
#include "timing/steady.h"
#include "timing/steady_report.h"

namespace attn {
namespace {

struct TimingOptions : MeasuringOptions {
  std::vector<Work> what = {Work::scores};
  std::vector<Index> n = {512, 1024, 2048, 4096};
  std::vector<Index> n_k = {0};
  std::vector<Index> d = {64};
  std::vector<Index> d_v = {0};
  std::vector<Index> heads = {1};
  std::vector<Index> kv_heads = {0};
  std::vector<Index> batch = {1};
  std::vector<Precision> dtype = {Precision::f64};
  Modifiers modifiers;
  std::string protocol;
  std::vector<std::string> vs;
  bool stats = false;
  bool explain = false;
  Seed seed;
  uint128 advance = 0;
};

// The options that are axes, in the order in which unnamed ones vary.
struct TimingAxes {
  CLI::Option *dtype, *batch, *heads, *kv_heads, *d, *d_v, *n, *n_k;
};

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

// NAME=PATH for each library; loads them, so that a missing one is found out before anything runs.
std::vector<std::pair<std::string, std::shared_ptr<BlasLibrary>>> load_libraries(const std::vector<std::string>& vs) {
  std::vector<std::pair<std::string, std::shared_ptr<BlasLibrary>>> libraries;
  for (const std::string& text : vs) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UsageError(fmt::format("--vs: expected NAME=PATH, found '{}'", text));
    }
    auto library = std::make_shared<BlasLibrary>(text.substr(equals + 1));
    library->set_threads(threads());
    libraries.emplace_back(text.substr(0, equals), std::move(library));
  }
  return libraries;
}

bool is_product(Work work) { return work == Work::scores || work == Work::gemm; }

std::vector<Contender> contenders_of(const TimingOptions& options) {
  const auto libraries = load_libraries(options.vs);
  std::vector<Contender> contenders;
  bool any_product = false;
  for (const Work work : options.what) {
    contenders.push_back({work, std::string(name_of(work))});
    if (!is_product(work)) continue;
    any_product = true;
    for (const auto& [name, library] : libraries) contenders.push_back({work, name, library});
  }
  if (!libraries.empty() && !any_product) throw UsageError("--vs: expected --what scores or gemm, which a BLAS library can do");
  return contenders;
}

std::vector<TimingPoint> points_of(const TimingOptions& options, const TimingAxes& axes, const CLI::App& app) {
  std::vector<Index> dtypes;
  for (const Precision precision : options.dtype) dtypes.push_back(static_cast<Index>(precision));
  const std::vector<Axis> all = {
      {axes.dtype, dtypes}, {axes.batch, options.batch}, {axes.heads, options.heads}, {axes.kv_heads, options.kv_heads},
      {axes.d, options.d},  {axes.d_v, options.d_v},     {axes.n, options.n},         {axes.n_k, options.n_k}};
  std::vector<TimingPoint> points;
  for (const std::vector<Index>& c : combinations(all, app)) {
    TimingPoint point{c[6], c[7] == 0 ? c[6] : c[7], c[4], c[5] == 0 ? c[4] : c[5],     axes.d->count() > 0 ? c[4] : c[6],
                      c[2], c[3] == 0 ? c[2] : c[3], c[1], static_cast<Precision>(c[0])};
    if (point.heads % point.kv_heads != 0) {
      throw UsageError(fmt::format("--kv-heads: expected a divisor of {} heads, found {}", point.heads, point.kv_heads));
    }
    points.push_back(point);
  }
  return points;
}

// Whether document 1's protocol is meant; refuses what it cannot be combined with.
bool article_protocol(const TimingOptions& options, const TimingAxes& axes) {
  if (!options.protocol.empty() && options.protocol != "article" && options.protocol != "steady") {
    throw UsageError(fmt::format("--protocol: expected article or steady, found '{}'", options.protocol));
  }
  const bool plain_scores = options.what == std::vector<Work>{Work::scores} && options.vs.empty() && !options.modifiers.any() &&
                            options.dtype == std::vector<Precision>{Precision::f64} && options.d.size() == 1 && options.reps == 0;
  bool other_axes = false;
  for (const CLI::Option* axis : {axes.batch, axes.heads, axes.kv_heads, axes.d_v, axes.n_k}) other_axes = other_axes || axis->count() > 0;
  const bool possible = plain_scores && !other_axes && !options.stats;
  if (options.protocol == "article" && !possible) {
    throw UsageError("--protocol: article is document 1's measurement of float64 scores; the other options want steady");
  }
  return options.protocol.empty() ? possible : options.protocol == "article";
}

Json names(const std::vector<Work>& what) {
  Json all = Json::array();
  for (const Work work : what) all.push_back(name_of(work));
  return all;
}

// Sizes that follow from others where they were not given: null then.
Json given_sizes(const std::vector<Index>& sizes) { return sizes == std::vector<Index>{0} ? Json() : Json(sizes); }

Json window_side(Index keys) { return keys == unlimited ? Json() : Json(keys); }

// All that numbers and times depend on; `--resume` wants it to be the same.
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

Block steady_growth_block(const std::vector<SteadyRow>& rows, bool stats) {
  Block block{0, "growth", "growth per doubling of n"};
  const std::vector<Growth> growths = growth_of(rows);
  block.text = growth_text(growths, stats);
  for (const Growth& growth : growths) {
    block.rows.push_back(Row()
                             .exact("series", growth.name)
                             .measured("growth_bytes", growth.per_doubling_bytes)
                             .measured("growth_time", growth.per_doubling_time)
                             .measured("exponent_time", growth.exponent)
                             .measured("exponent_low", growth.exponent_low ? Json(*growth.exponent_low) : Json())
                             .measured("exponent_high", growth.exponent_high ? Json(*growth.exponent_high) : Json()));
  }
  return block;
}

// One point's rows into the block: text and records, with the speed relative to the first.
void add_rows(Block& block, const std::vector<SteadyRow>& rows, const SteadyOptions& steady, Status& status) {
  block.text.append(steady_text(rows, steady, block.rows.empty()));
  const double first_s = rows.front().timed() ? rows.front().median_s() : 0;
  for (const SteadyRow& row : rows) {
    Row record = steady_record(row, steady);
    record.measured("speedup", row.timed() && first_s > 0 ? Json(first_s / row.median_s()) : Json());
    block.rows.push_back(std::move(record));
    if (row.status != Status::passed) status = row.status;
  }
}

void warn_of(Session& session, const std::vector<SteadyRow>& rows) {
  for (const SteadyRow& row : rows) {
    if (!row.reason.empty()) session.warn(fmt::format("{}: {}", status_name(row.status), row.reason));
    if (!row.measurement) continue;
    for (const Warning& warning : row.measurement->warnings) session.warn(fmt::format("n = {}: {}", row.point.n, warning.text));
  }
}

void warn_of_growth(Session& session, const std::vector<SteadyRow>& rows, const std::vector<Contender>& contenders) {
  for (const Contender& contender : contenders) {
    std::vector<double> n, time, flops;
    for (const SteadyRow& row : rows) {
      if (!row.timed() || row.contender.algorithm != contender.algorithm) continue;
      n.push_back(static_cast<double>(row.point.n));
      time.push_back(row.median_s());
      flops.push_back(row.flops);
    }
    if (std::set<double>(n.begin(), n.end()).size() != n.size()) continue;  // several series: another axis varies too
    if (const auto warning = growth_warning(n, time, flops)) session.warn(fmt::format("{}: {}", contender.algorithm, warning->text));
  }
}

double total_flops(const SteadyOptions& steady, const TimingPoint& point) {
  double flops = 0;
  for (const Contender& contender : steady.contenders) flops += flops_of(contender.work, point, steady.modifiers);
  return flops;
}

SteadyOptions steady_options(const TimingOptions& options, std::vector<TimingPoint> points) {
  SteadyOptions steady{contenders_of(options), std::move(points), options.modifiers, options.seed, options.advance};
  steady.sampler = sampler_options(options);
  steady.statistic = options.statistic;
  steady.stats = options.stats;
  return steady;
}

Report empty_report(const TimingOptions& options, bool article) {
  Report report{"timing-sweep"};
  report.args = args_of(options, article);
  report.tabular = true;
  report.headings = Headings::none;
  return report;
}

Report run_article(const TimingOptions& options, Session& session) {
  Report report = empty_report(options, true);
  const ArticleOptions article{options.n, options.d.front(), options.seed, options.advance};
  report.blocks = article_blocks(article, report.status, session.row_hooks(report));
  return report;
}

Report run_steady(const TimingOptions& options, const std::vector<TimingPoint>& points, Session& session) {
  const SteadyOptions steady = steady_options(options, points);
  Report report = empty_report(options, false);
  const std::vector<Json> finished = session.finished_rows(report.args);
  report.blocks.push_back(Block{0, "timing", "timings"});
  RowStream stream(options.seed, options.advance);
  const Ceilings ceilings = arithmetic_ceilings(options.dtype);
  double done = 0;
  double total = 0;
  for (const TimingPoint& point : points) total += total_flops(steady, point);
  std::vector<SteadyRow> all;
  for (const TimingPoint& point : points) {
    session.progress(fmt::format("timing n = {}", point.n), done, total);
    std::vector<SteadyRow> rows = restore_point(steady, point, stream, finished);
    if (rows.empty()) rows = measure_point(steady, point, stream, ceilings);
    add_rows(report.blocks.front(), rows, steady, report.status);
    session.publish(report);
    warn_of(session, rows);
    done += total_flops(steady, point);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  warn_of_growth(session, all, steady.contenders);
  report.blocks.push_back(steady_growth_block(all, options.stats));
  return report;
}

// What would be run, and how long one iteration takes at the least: by the arithmetic ceiling or by the bandwidth, whichever is longer.
Report dry_run(const TimingOptions& options, const std::vector<TimingPoint>& points) {
  const SteadyOptions steady = steady_options(options, points);
  Report report = empty_report(options, false);
  Block block{0, "timing", "what would be timed"};
  const Ceilings ceilings = measure_ceilings(threads());
  block.text.line(
      fmt::format("{:>7} | {:<9} | {:>5} | {:>12} | {:>12} | {:>14}", "n", "what", "dtype", "GFLOP", "model MB", "at least, ms"));
  for (const TimingPoint& point : points) {
    for (const Contender& contender : steady.contenders) {
      const double flops = flops_of(contender.work, point, steady.modifiers);
      const double bytes = bytes_model_of(contender.work, point, steady.modifiers);
      const double seconds = std::max(flops / peak_gflops(ceilings, point.precision), bytes / ceilings.read_gbps) / 1e9;
      block.text.line(fmt::format("{:>7} | {:<9} | {:>5} | {:>12.3f} | {:>12.1f} | ", point.n, contender.algorithm,
                                  name_of(point.precision), flops / 1e9, bytes / 1e6));
      block.text.add(fmt::format("{:>14.3f}", seconds * 1e3), Cell::measured);
      block.rows.push_back(Row()
                               .exact("algorithm", contender.algorithm)
                               .exact("what", name_of(contender.work))
                               .exact("seq_q", point.n)
                               .exact("dtype", name_of(point.precision))
                               .exact("flops", flops)
                               .exact("bytes_model", bytes)
                               .measured("predicted_s", seconds));
    }
  }
  report.blocks.push_back(std::move(block));
  return report;
}

TimingAxes add_axes(CLI::App& app, TimingOptions& options) {
  TimingAxes axes{};
  axes.n = add_sizes(app, "--n", options.n, "Numbers of queries and keys (decode: keys)")->default_str("512..4096");
  axes.n_k = add_sizes(app, "--n-k,--nk", options.n_k, "Numbers of keys")->default_str("n");
  axes.d = add_sizes(app, "--d,--d-k,--dk", options.d, "Widths of queries and keys (gemm: inner size)")->default_str("64, gemm: n");
  axes.d_v = add_sizes(app, "--d-v,--dv", options.d_v, "Widths of values")->default_str("d");
  axes.heads = add_sizes(app, "--heads", options.heads, "Query heads");
  axes.kv_heads =
      add_sizes(app, "--kv-heads", options.kv_heads, "Key and value heads, each shared by a group of query heads")->default_str("heads");
  axes.batch = add_sizes(app, "--batch", options.batch, "Batch sizes");
  axes.dtype = add_dtypes(app, options.dtype);
  return axes;
}

void add_what(CLI::App& app, TimingOptions& options) {
  const auto parse_what = [&options](const std::string& text) {
    options.what.clear();
    for (const std::string& name : split(text, ',')) options.what.push_back(parse_work(name));
  };
  app.add_option_function<std::string>("--what", parse_what, "What to time; several run interleaved at each size")
      ->type_name("scores|standard|fused|decode|gemm,...")
      ->default_str("scores");
  app.add_flag("--causal", options.modifiers.causal, "Each query sees the keys up to its own position; the last query the last key");
  app.add_option_function<std::string>(
         "--window", [&options](const std::string& text) { parse_window(text, options.modifiers); },
         "Each query sees so many keys before and after its own position; 'unlimited' for either")
      ->type_name("LEFT,RIGHT");
  app.add_option_function<std::string>(
         "--softcap", [&options](const std::string& text) { parse_softcap(text, options.modifiers); },
         "Scores become CAP tanh(score / CAP)")
      ->type_name("CAP");
}

void add_measuring(CLI::App& app, TimingOptions& options) {
  app.add_option("--protocol", options.protocol, "article is document 1's way, the default for scores alone")->type_name("article|steady");
  app.add_option("--vs", options.vs, "Time this BLAS library's product on the same operands: NAME=PATH of a shared library")
      ->type_name("NAME=PATH");
  add_measuring_options(app, options);
  app.add_flag("--stats", options.stats, "Further lines on each row: rates, samples, memory, fitted exponents");
  app.add_flag("--explain", options.explain, "Measure the parts of document 1's table on this machine, at the largest n");
}

std::function<Report(Session&)> set_up_timing(CLI::App& app) {
  const auto options = std::make_shared<TimingOptions>();
  add_what(app, *options);
  const TimingAxes axes = add_axes(app, *options);
  add_measuring(app, *options);
  add_seed(app, options->seed);
  add_advance(app, options->advance);
  return [options, axes, &app](Session& session) {
    if (options->explain) return explain_report({options->n.back(), options->d.front(), options->seed});
    const bool article = article_protocol(*options, axes);
    if (options->dry_run) return dry_run(*options, points_of(*options, axes, app));
    return article ? run_article(*options, session) : run_steady(*options, points_of(*options, axes, app), session);
  };
}

}  // namespace

Experiment timing_sweep() {
  return {"timing-sweep", "How time and memory grow with n: document 1's lines, attention, products", {"timing"}, set_up_timing, true};
}

}  // namespace attn
