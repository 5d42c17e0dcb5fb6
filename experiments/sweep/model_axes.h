// Axes of sweeps over one layer of a transformer: tokens, width, heads, type.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"
#include "report/report.h"
#include "timing/problem.h"

namespace attn {

// One setting of the axes.
struct ModelPoint {
  Index n = 0;
  Index d_model = 768;
  Index heads = 12;
  Precision precision = Precision::f32;

  // Whether only n may differ: points of one series.
  bool same_model(const ModelPoint& other) const {
    return d_model == other.d_model && heads == other.heads && precision == other.precision;
  }
};

struct ModelAxes {
  std::vector<Index> n;
  std::vector<Index> d_model = {768};
  std::vector<Index> heads = {12};
  std::vector<Precision> dtype = {Precision::f32};

  // Where add_model_axes has been called: the options that set them.
  AddedOption n_option = {}, d_model_option = {}, heads_option = {}, dtype_option = {};

  // All combinations; those not named in `app` vary slowest (sweep/axes.h). Without `app` none is named, and n varies fastest. Throws
  // UsageError where heads do not divide d_model.
  std::vector<ModelPoint> points(const CLI::App* app = nullptr) const;
};

// --n, --d-model, --heads and --dtype, with the present values as defaults.
void add_model_axes(CLI::App& app, ModelAxes& axes, const std::string& n_help);

// {n, d_model, heads, dtype}: for a report's args.
Json model_args(const ModelAxes& axes);

// "f32 d_model=768 heads=12", and the same as command-line options.
std::string model_text(const ModelPoint& point);
std::string model_options(const ModelPoint& point);

// The fields of a row that say what the point is.
void add_model_point(Row& record, const ModelPoint& point);

}  // namespace attn
