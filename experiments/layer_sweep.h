// `attn layer-sweep`: where one transformer layer's operations and time go, and from which n on attention takes more than half.
//
// Document 2 calls attention's arithmetic, quadratic in n, the bottleneck. transformer/layer.h derives the operations of the layer's parts:
//
//   projections (q, k, v, o)   8 n d^2
//   attention                  4 pairs d,  pairs = n^2; with --causal n (n + 1) / 2, only pairs that a query sees being counted
//   feed-forward               16 n d^2,  hidden width 4 d, GELU                                            d = d_model
//
// so that attention is more than half of them from n = 6 d + 1 on, causal from n = 12 d. By time it depends on how fast each part runs:
// attention is measured by the standard algorithm, which stores its scores, and by the fused one. A layer's time is the sum of its parts'
// medians; layer norms and the additions around the parts, O(n d), are left out.
//
// Tokens x (n, d) and weights W_q, W_k, W_v, W_o (d, d), W_in (d, 4d), W_out (4d, d) are drawn in this order as standard normals, weights
// divided by the root of their rows; all rows draw from one stream. Every part works on what the part before it gave for these tokens.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/ceilings.h"
#include "measure/sampler.h"
#include "stream_rows.h"
#include "sweep/model_axes.h"
#include "transformer/layer.h"

namespace attn {

// In the order of a point's rows.
enum class LayerPart { projections, standard_attention, fused_attention, feed_forward };

// "projections", "attention", "feed-forward"; "gemm", "standard", "fused".
std::string_view name_of(LayerPart part);
std::string_view algorithm_of(LayerPart part);

struct LayerOptions {
  std::vector<ModelPoint> points;  // drawn in this order
  bool causal = false;
  Seed seed;
  uint128 advance = 0;
  SamplerOptions sampler;
};

// One part at one point.
struct LayerPartRow {
  ModelPoint point;
  LayerPart part = LayerPart::projections;
  Json stream_position;
  Status status = Status::passed;  // failed where an output is wrong, skipped where memory does not suffice
  std::string reason;
  std::string input_hash;  // of all that the point draws
  std::string output_hash;
  std::optional<Measurement> measurement;
  double flops = 0;
  std::optional<double> peak_gflops;

  bool timed() const { return measurement && measurement->summary; }
  double median_s() const { return measurement->summary->median / 1e9; }
  double gflops() const { return flops / median_s() / 1e9; }
};

// An amount (operations or seconds) of a layer at one n, with its uncertainty where that is known.
struct SplitAmount {
  Index n = 0;
  double attention = 0;
  double rest = 0;
  std::optional<double> attention_noise, rest_noise;  // half the interquartile range; of the rest the sum over its parts

  double total() const { return attention + rest; }
  double attention_share() const { return attention / total(); }
};

// A whole layer at one point, with one of the attention algorithms.
struct LayerTotal {
  ModelPoint point;
  AttentionAlgorithm algorithm = AttentionAlgorithm::standard;
  SplitAmount flops;
  std::optional<SplitAmount> time_s;  // empty where a part was not timed or was wrong
};

// From which n on attention is more than half of something, found between measured sizes.
struct Majority {
  std::optional<Index> below;   // largest measured n at which it is not; empty where it is at all of them
  std::optional<Index> above;   // smallest measured n from which on it is; empty where it is not at the last
  std::optional<double> n;      // where the two meet, by a straight line on logarithmic axes; empty unless both are known
  std::optional<double> n_low;  // the same with all times shifted by their noise, for and against attention; empty where that is unknown
  std::optional<double> n_high;
};

struct LayerMajority {
  ModelPoint model;  // n of the last point
  AttentionAlgorithm algorithm = AttentionAlgorithm::standard;
  Majority by_flops;
  Index by_flops_exactly = 0;  // the closed form: the smallest n at all
  Majority by_time;
};

struct LayerResult {
  std::vector<LayerPartRow> parts;  // for each point the four LayerParts
  std::vector<LayerTotal> layers;   // for each point standard and fused
  std::vector<LayerMajority> majorities;
};

// Everything: parts, layers and majorities. Throws UsageError where heads do not divide d_model.
LayerResult measure_layer(const LayerOptions& options);

// The four rows of one point, whose numbers come from `stream`. `ceilings` holds the arithmetic's.
std::vector<LayerPartRow> measure_layer_point(const LayerOptions& options, const ModelPoint& point, RowStream& stream,
                                              const Ceilings& ceilings);

// The four rows of a point before anything is measured, at the stream's present position.
std::vector<LayerPartRow> blank_layer_rows(const LayerOptions& options, const ModelPoint& point, const RowStream& stream);

// How many normals a point draws.
double layer_numbers(const ModelPoint& point);

// The two layers that the four parts of a point make.
std::vector<LayerTotal> layers_of(std::span<const LayerPartRow> parts);

// Of amounts at different n, in any order.
Majority majority_of(std::vector<SplitAmount> amounts);

// Two for every width, number of heads and type: standard and fused.
std::vector<LayerMajority> majorities_of(const std::vector<LayerTotal>& layers, bool causal);

}  // namespace attn
