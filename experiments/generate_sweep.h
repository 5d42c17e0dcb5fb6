// `attn generate-sweep`: what a cache of keys and values saves when n tokens are generated in one attention layer.
//
// Document 2 names caches of keys and values among what long contexts took. Each row generates n tokens, without a cache (every step
// projects all tokens so far again and runs causal attention over them) or with one (every step projects one token, appends its key and
// value, and attends with one query); transformer/generation.h has the steps and the derivation of their operations:
//
//   without   4 d^2 n (n + 1) + 2 d n (n + 1) (n + 2) / 3          with   8 n d^2 + 2 d n (n + 1)          d = d_model
//
// A cache takes 2 n d numbers. Tokens x (n, d) and weights W_q, W_k, W_v, W_o (d, d) are drawn in this order as standard normals, the
// weights divided by sqrt(d); all rows draw from one stream. Both ways see the same tokens, which are given beforehand. Each way's outputs
// are compared with the oracle's afterwards, within a bound that verify/generation_check.h derives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/ceilings.h"
#include "measure/growth.h"
#include "measure/sampler.h"
#include "stream_rows.h"
#include "sweep/model_axes.h"
#include "transformer/generation.h"

namespace attn {

enum class GenerationWay { uncached, cached };

// "no-cache", "kv-cache"
std::string_view name_of(GenerationWay way);

struct GenerationOptions {
  std::vector<ModelPoint> points;  // rows of both ways for each, drawn in this order
  Seed seed;
  uint128 advance = 0;
  SamplerOptions sampler;
};

// One way at one point.
struct GenerationRow {
  ModelPoint point;
  GenerationWay way = GenerationWay::uncached;
  Json stream_position;
  Status status = Status::passed;  // failed where an output is wrong, skipped where memory does not suffice
  std::string reason;
  std::string input_hash;
  std::string output_hash;
  std::optional<Measurement> measurement;
  double flops = 0;
  double bytes_model = 0;
  Index cache_bytes = 0;
  std::optional<double> peak_gflops;
  std::optional<double> read_gbps_ceiling;  // with a cache: reading as much memory as weights and cache take, again and again

  Index rows = 0;                 // of the output that were compared with the oracle
  double largest_share = 0;       // of what an element may differ from the oracle's
  double largest_difference = 0;  // between the two ways

  bool timed() const { return measurement && measurement->summary; }
  double median_s() const { return measurement->summary->median / 1e9; }
  double per_token_s() const { return median_s() / static_cast<double>(point.n); }
  double gflops() const { return flops / median_s() / 1e9; }
  double gbps() const { return bytes_model / median_s() / 1e9; }
};

// How time and operations of one way grow with n, at one width, number of heads and type.
struct GenerationGrowth {
  ModelPoint model;  // n of the last point
  GenerationWay way = GenerationWay::uncached;
  GrowthFit time;
  GrowthFit flops;
};

struct GenerationResult {
  std::vector<GenerationRow> rows;  // for each point: without a cache, with one
  std::vector<GenerationGrowth> growths;
};

// Everything: rows of all points and their growths. Throws UsageError where heads do not divide d_model.
GenerationResult measure_generation(const GenerationOptions& options);

// The two rows of one point, whose numbers come from `stream`. `ceilings` holds the arithmetic's.
std::vector<GenerationRow> measure_generation_point(const GenerationOptions& options, const ModelPoint& point, RowStream& stream,
                                                    const Ceilings& ceilings);

// The two rows of a point before anything is measured, at the stream's present position.
std::vector<GenerationRow> blank_generation_rows(const ModelPoint& point, const RowStream& stream);

// What a row with a cache reads in its last step, weights and cache, or as much of it as makes no difference to the bandwidth.
std::size_t held_bytes(const GenerationRow& row);

// How many normals a point draws.
double generation_numbers(const ModelPoint& point);

// One for every series of at least two n with times.
std::vector<GenerationGrowth> growth_of(const std::vector<GenerationRow>& rows);

}  // namespace attn
