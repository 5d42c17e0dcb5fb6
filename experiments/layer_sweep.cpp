// The subcommand; what it measures is described in layer_sweep.h.
#include "layer_sweep.h"

#include <algorithm>

#include "experiment.h"
#include "layer/layer_report.h"
#include "options/options.h"
#include "sweep/planned_rows.h"
#include "sweep/run_points.h"
#include "timing/measuring_options.h"

namespace attn {
namespace {

struct LayerSweepOptions : MeasuringOptions {
  ModelAxes axes{{256, 512, 1024, 2048, 4096, 8192}};
  bool causal = false;
  Seed seed;
  uint128 advance = 0;
};

LayerOptions layer_options(const LayerSweepOptions& options, const std::vector<ModelPoint>& points) {
  return {points, options.causal, options.seed, options.advance, sampler_options(options)};
}

Report empty_report(const LayerSweepOptions& options) {
  Report report{"layer-sweep"};
  report.args = model_args(options.axes);
  report.args["causal"] = options.causal;
  report.args["reps"] = options.reps == 0 ? Json() : Json(options.reps);
  report.args["max_time_s"] = options.max_time_s;
  report.args["seed"] = options.seed.text();
  report.args["advance"] = to_string(options.advance);
  report.tabular = true;
  report.headings = Headings::none;
  return report;
}

// The first status other than passed.
Status worst_status(const std::vector<LayerPartRow>& parts) {
  const auto bad = std::find_if(parts.begin(), parts.end(), [](const LayerPartRow& row) { return row.status != Status::passed; });
  return bad == parts.end() ? Status::passed : bad->status;
}

// One point's parts and layers into the block: text and records.
void add_rows(Block& block, const std::vector<LayerPartRow>& parts, const LayerOptions& options, Statistic statistic, Status& status) {
  const std::vector<LayerTotal> layers = layers_of(parts);
  const Status of_point = worst_status(parts);
  block.text.append(layer_text(parts, layers, statistic, block.rows.empty()));
  for (const LayerPartRow& part : parts) block.rows.push_back(part_record(part, options));
  for (const LayerTotal& layer : layers) block.rows.push_back(layer_record(layer, options));
  if (of_point != Status::passed) status = of_point;
}

double work_of(const LayerOptions& options, const ModelPoint& point) {
  double flops = 0;
  for (const LayerPartRow& row : blank_layer_rows(options, point, RowStream(options.seed))) flops += row.flops;
  return flops;
}

Report run_layers(const LayerSweepOptions& options, const std::vector<ModelPoint>& points, Session& session) {
  const LayerOptions layer = layer_options(options, points);
  Report report = empty_report(options);
  const std::vector<Json> earlier = session.finished_rows(report.args);
  report.blocks.push_back(Block{0, "layer", "one layer in its parts"});
  const Ceilings ceilings = arithmetic_ceilings(options.axes.dtype);
  RowStream stream(options.seed, options.advance);
  std::vector<LayerTotal> layers;
  PointSweep<LayerPartRow> sweep;
  sweep.doing = "timing";
  sweep.work = [&](const ModelPoint& point) { return work_of(layer, point); };
  sweep.blank = [&](const ModelPoint& point, const RowStream& at) { return blank_layer_rows(layer, point, at); };
  sweep.restore = [&](LayerPartRow& row) { return restore(row, layer, earlier); };
  sweep.numbers = layer_numbers;
  sweep.measure = [&](const ModelPoint& point, RowStream& from) { return measure_layer_point(layer, point, from, ceilings); };
  sweep.finished = [&](const std::vector<LayerPartRow>& rows) {
    add_rows(report.blocks.front(), rows, layer, options.statistic, report.status);
    session.publish(report);
    for (const LayerPartRow& row : rows) warn_of_row(session, row, fmt::format("{}, {}", name_of(row.part), algorithm_of(row.part)));
    for (const LayerTotal& total : layers_of(rows)) layers.push_back(total);
  };
  run_points(sweep, points, stream, session);
  report.blocks.push_back(majority_block(majorities_of(layers, options.causal), options.causal));
  return report;
}

Report dry_run(const LayerSweepOptions& options, const std::vector<ModelPoint>& points) {
  const LayerOptions layer = layer_options(options, points);
  Report report = empty_report(options);
  const Ceilings ceilings = arithmetic_ceilings(options.axes.dtype);
  const RowStream stream(options.seed, options.advance);
  std::vector<PlannedRow> planned;
  for (const ModelPoint& point : points) {
    for (const LayerPartRow& row : blank_layer_rows(layer, point, stream)) {
      const double least_s = row.flops / peak_gflops(ceilings, point.precision) / 1e9;
      planned.push_back({point, std::string(name_of(row.part)), std::string(algorithm_of(row.part)), row.flops, 0, least_s});
    }
  }
  report.blocks.push_back(planned_block("layer", planned, layer.sampler));
  return report;
}

std::function<Report(Session&)> set_up_layer(CLI::App& app) {
  const auto options = std::make_shared<LayerSweepOptions>();
  add_model_axes(app, options->axes, "Numbers of tokens");
  add_flag(app, "--causal", options->causal, "Each token sees those up to itself; only these pairs are counted");
  add_measuring_options(app, *options);
  add_seed(app, options->seed);
  add_advance(app, options->advance);
  return [options, &app](Session& session) {
    const std::vector<ModelPoint> points = options->axes.points(&app);
    return options->dry_run ? dry_run(*options, points) : run_layers(*options, points, session);
  };
}

}  // namespace

Experiment layer_sweep() {
  return {"layer-sweep",
          "Where a transformer layer's operations and time go, and from which n on most go into attention",
          {},
          set_up_layer,
          true};
}

}  // namespace attn
