// `attn timing-sweep`: how time and memory of scores, attention and products grow with their sizes, beside what the machine can do.
#include <algorithm>
#include <memory>
#include <set>

#include "experiment.h"
#include "machine/error.h"
#include "machine/threads.h"
#include "timing/article.h"
#include "timing/explain.h"
#include "timing/measuring_options.h"
#include "timing/steady.h"
#include "timing/steady_report.h"
#include "timing/timing_options.h"

namespace attn {
namespace {

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

std::function<Report(Session&)> set_up_timing(CLI::App& app) {
  const auto options = std::make_shared<TimingOptions>();
  const TimingAxes axes = add_timing_options(app, *options);
  return [options, axes, &app](Session& session) {
    check_explain(*options, axes);
    check_used(*options, axes);
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
