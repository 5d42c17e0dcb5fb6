// What a sweep over a layer's points would run, and how long that takes at the least: for --dry-run.
#pragma once

#include <string>
#include <vector>

#include "measure/sampler.h"
#include "sweep/model_axes.h"

namespace attn {

struct PlannedRow {
  ModelPoint point;
  std::string part;  // of the layer; empty where a row is no part of one
  std::string algorithm;
  double flops = 0;
  double bytes_model = 0;  // 0: not known to matter
  double run_s = 0;        // the least time that the measured ceilings allow one run
};

// How long the sampler takes at the least for a body whose run takes `run_s`: one run to warm up, then until the time is up or so many
// samples are there as may show that the noise is small.
double sampled_s(double run_s, const SamplerOptions& sampler);

// The rows with their operations and times, and all times together.
Block planned_block(const std::string& id, const std::vector<PlannedRow>& rows, const SamplerOptions& sampler);

}  // namespace attn
