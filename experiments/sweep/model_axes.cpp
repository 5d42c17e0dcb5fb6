#include "sweep/model_axes.h"

#include <fmt/format.h>

#include "machine/error.h"
#include "options/options.h"
#include "sweep/axes.h"
#include "timing/measuring_options.h"

namespace attn {

std::vector<ModelPoint> ModelAxes::points(const CLI::App* app) const {
  std::vector<Index> dtypes;
  for (const Precision precision : dtype) dtypes.push_back(static_cast<Index>(precision));
  const std::vector<Axis> all = {{dtype_option, dtypes}, {d_model_option, d_model}, {heads_option, heads}, {n_option, n}};
  std::vector<ModelPoint> points;
  for (const std::vector<Index>& c : combinations(all, app)) {
    const ModelPoint point{c[3], c[1], c[2], static_cast<Precision>(c[0])};
    if (point.d_model % point.heads != 0) {
      throw UsageError(fmt::format("--heads: expected a divisor of d_model {}, found {}", point.d_model, point.heads));
    }
    points.push_back(point);
  }
  return points;
}

void add_model_axes(CLI::App& app, ModelAxes& axes, const std::string& n_help) {
  axes.n_option = add_sizes(app, "--n", axes.n, n_help);
  axes.d_model_option = add_sizes(app, "--d-model", axes.d_model, "Widths of the layer");
  axes.heads_option = add_sizes(app, "--heads", axes.heads, "Heads, each of d_model / heads");
  axes.dtype_option = add_dtypes(app, axes.dtype);
}

Json model_args(const ModelAxes& axes) {
  Json dtypes = Json::array();
  for (const Precision precision : axes.dtype) dtypes.push_back(name_of(precision));
  return {{"n", axes.n}, {"d_model", axes.d_model}, {"heads", axes.heads}, {"dtype", dtypes}};
}

std::string model_text(const ModelPoint& point) {
  return fmt::format("{} d_model={} heads={}", name_of(point.precision), point.d_model, point.heads);
}

std::string model_options(const ModelPoint& point) {
  return fmt::format("--n {} --d-model {} --heads {} --dtype {}", point.n, point.d_model, point.heads, name_of(point.precision));
}

void add_model_point(Row& record, const ModelPoint& point) {
  record.exact("dtype", name_of(point.precision)).exact("d_model", point.d_model).exact("heads", point.heads);
  record.exact("head_dim", point.d_model / point.heads).exact("seq_q", point.n);
}

}  // namespace attn
