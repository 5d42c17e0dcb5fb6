// The subcommand; what it measures is described in generate_sweep.h.
#include "generate_sweep.h"

#include <algorithm>

#include "experiment.h"
#include "generate/generation_report.h"
#include "machine/threads.h"
#include "options/options.h"
#include "sweep/planned_rows.h"
#include "sweep/run_points.h"
#include "timing/measuring_options.h"

namespace attn {
namespace {

struct GenerateOptions : MeasuringOptions {
  ModelAxes axes{{64, 128, 256, 512, 1024}};
  Seed seed;
  uint128 advance = 0;
};

Report empty_report(const GenerateOptions& options) {
  Report report{"generate-sweep"};
  report.args = model_args(options.axes);
  report.args["reps"] = options.reps == 0 ? Json() : Json(options.reps);
  report.args["max_time_s"] = options.max_time_s;
  report.args["seed"] = options.seed.text();
  report.args["advance"] = to_string(options.advance);
  report.tabular = true;
  report.headings = Headings::none;
  return report;
}

// One point's rows into the block: text and records, with the speed relative to generation without a cache.
void add_rows(Block& block, const std::vector<GenerationRow>& rows, const GenerationOptions& options, Statistic statistic, Status& status) {
  block.text.append(generation_text(rows, statistic, block.rows.empty()));
  const double first_s = rows.front().timed() ? rows.front().median_s() : 0;
  for (const GenerationRow& row : rows) {
    Row record = generation_record(row, options);
    record.measured("speedup", row.timed() && first_s > 0 ? Json(first_s / row.median_s()) : Json());
    block.rows.push_back(std::move(record));
    if (row.status != Status::passed) status = row.status;
  }
}

Report run_generation(const GenerateOptions& options, const std::vector<ModelPoint>& points, Session& session) {
  const GenerationOptions generation{points, options.seed, options.advance, sampler_options(options)};
  Report report = empty_report(options);
  const std::vector<Json> earlier = session.finished_rows(report.args);
  report.blocks.push_back(Block{0, "generation", "generation with and without a cache"});
  const Ceilings ceilings = arithmetic_ceilings(options.axes.dtype);
  RowStream stream(options.seed, options.advance);
  PointSweep<GenerationRow> sweep;
  sweep.doing = "generating";
  sweep.work = [](const ModelPoint& point) { return uncached_generation_flops(layer_shape(point.d_model, point.heads), point.n); };
  sweep.blank = blank_generation_rows;
  sweep.restore = [&](GenerationRow& row) { return restore(row, generation, earlier); };
  sweep.numbers = generation_numbers;
  sweep.measure = [&](const ModelPoint& point, RowStream& from) { return measure_generation_point(generation, point, from, ceilings); };
  sweep.finished = [&](const std::vector<GenerationRow>& rows) {
    add_rows(report.blocks.front(), rows, generation, options.statistic, report.status);
    session.publish(report);
    for (const GenerationRow& row : rows) warn_of_row(session, row, name_of(row.way));
  };
  report.blocks.push_back(generation_growth_block(growth_of(run_points(sweep, points, stream, session))));
  return report;
}

// The least time that one generation can take: by the ceiling of arithmetic; with a cache also by reading weights and cache step after
// step.
double least_s(const GenerationRow& row, const Ceilings& ceilings) {
  const double by_arithmetic = row.flops / peak_gflops(ceilings, row.point.precision) / 1e9;
  if (row.way == GenerationWay::uncached) return by_arithmetic;
  return std::max(by_arithmetic, row.bytes_model / measure_read_gbps(held_bytes(row), threads()) / 1e9);
}

Report dry_run(const GenerateOptions& options, const std::vector<ModelPoint>& points) {
  Report report = empty_report(options);
  const Ceilings ceilings = arithmetic_ceilings(options.axes.dtype);
  const RowStream stream(options.seed, options.advance);
  std::vector<PlannedRow> planned;
  for (const ModelPoint& point : points) {
    for (const GenerationRow& row : blank_generation_rows(point, stream)) {
      planned.push_back({point, "", std::string(name_of(row.way)), row.flops, row.bytes_model, least_s(row, ceilings)});
    }
  }
  report.blocks.push_back(planned_block("generation", planned, sampler_options(options)));
  return report;
}

std::function<Report(Session&)> set_up_generation(CLI::App& app) {
  const auto options = std::make_shared<GenerateOptions>();
  add_model_axes(app, options->axes, "Numbers of tokens to generate");
  add_measuring_options(app, *options);
  add_seed(app, options->seed);
  add_advance(app, options->advance);
  return [options, &app](Session& session) {
    const std::vector<ModelPoint> points = options->axes.points(&app);
    return options->dry_run ? dry_run(*options, points) : run_generation(*options, points, session);
  };
}

}  // namespace

Experiment generate_sweep() {
  return {
      "generate-sweep", "What a cache of keys and values saves when tokens are generated, by their number", {}, set_up_generation, true};
}

}  // namespace attn
