// The measuring half of generate_sweep.h.
#include <algorithm>
#include <cmath>
#include <map>

#include "generate_sweep.h"
#include "machine/error.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "report/fingerprint.h"
#include "sweep/draw.h"
#include "timing/measuring_options.h"
#include "verify/generation_check.h"

namespace attn {
namespace {

constexpr int input_buffers = 2;  // what the sampler wants at least; within one iteration the weights stay in the caches by themselves

LayerShape shape_of(const ModelPoint& point) { return layer_shape(point.d_model, point.heads); }

double token_numbers(const ModelPoint& point) { return static_cast<double>(point.n) * static_cast<double>(point.d_model); }
double weight_numbers(const ModelPoint& point) { return 4 * static_cast<double>(point.d_model) * static_cast<double>(point.d_model); }

double size_of(const ModelPoint& point) { return static_cast<double>(bytes_of(point.precision)); }

// Inputs in all buffers; q, k, v, o, y of the steps without a cache; the cache; both outputs.
std::uint64_t point_bytes(const ModelPoint& point) {
  const double numbers = input_buffers * generation_numbers(point) + (5 + 2 + 2) * token_numbers(point);
  return static_cast<std::uint64_t>(std::min(numbers * size_of(point), 9e18));
}

template <class T>
struct GenerationInputs {
  Matrix<T> x;
  AttentionWeights<T> weights;
};

template <class T>
GenerationInputs<T> draw_inputs(const ModelPoint& point, Generator& generator) {
  const double root = std::sqrt(static_cast<double>(point.d_model));
  GenerationInputs<T> inputs;
  inputs.x = draw_normals<T>(point.n, point.d_model, generator);
  for (Matrix<T>* weights : {&inputs.weights.q, &inputs.weights.k, &inputs.weights.v, &inputs.weights.o}) {
    *weights = draw_normals<T>(point.d_model, point.d_model, generator, root);
  }
  return inputs;
}

template <class T>
GenerationInputs<T> copy_of(const GenerationInputs<T>& inputs) {
  const AttentionWeights<T>& w = inputs.weights;
  return {copy(inputs.x.view()), {copy(w.q.view()), copy(w.k.view()), copy(w.v.view()), copy(w.o.view())}};
}

std::string fault_of(const LargestShare& share) {
  if (share.within()) return {};
  return fmt::format("wrong output: token {}, column {}: expected {:.8g}, found {:.8g}, allowed {:.2g}", share.row, share.column,
                     share.expected, share.found, share.allowed);
}

// Both ways at one point, in one precision.
template <class T>
class GenerationMeasurer {
 public:
  GenerationMeasurer(const ModelPoint& point, Generator& generator)
      : point_(point),
        uncached_buffers_(point.n, point.d_model),
        cached_buffers_(point.d_model),
        cache_(point.n, point.d_model),
        uncached_(point.n, point.d_model),
        cached_(point.n, point.d_model) {
    inputs_.push_back(draw_inputs<T>(point, generator));
    while (inputs_.size() < input_buffers) inputs_.push_back(copy_of(inputs_.front()));
  }

  void measure(std::vector<GenerationRow>& rows, const SamplerOptions& sampler) {
    const std::vector<TimedBody> bodies = {
        {std::string(name_of(GenerationWay::uncached)), [this](int buffer) { run_uncached(buffer); }, input_buffers},
        {std::string(name_of(GenerationWay::cached)), [this](int buffer) { run_cached(buffer); }, input_buffers}};
    const std::vector<Measurement> measurements = measure_interleaved(bodies, sampler);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].measurement = measurements[i];
    check(rows);
  }

 private:
  const GenerationInputs<T>& inputs(int buffer) const { return inputs_[static_cast<std::size_t>(buffer)]; }

  void run_uncached(int buffer) {
    const GenerationInputs<T>& in = inputs(buffer);
    generate_uncached<T>(in.weights, point_.heads, in.x.view(), uncached_buffers_, uncached_.view());
  }

  void run_cached(int buffer) {
    const GenerationInputs<T>& in = inputs(buffer);
    generate_cached<T>(in.weights, point_.heads, in.x.view(), cache_, cached_buffers_, cached_.view());
  }

  void check(std::vector<GenerationRow>& rows) const {
    const GenerationInputs<T>& in = inputs(0);
    const AttentionWeights<T>& w = in.weights;
    const auto& [q, k, v, o, y] = uncached_buffers_;
    const GenerationAgreement agreement =
        compare_generation(GeneratedRows<T>{in.x.view(), w.q.view(), w.k.view(), w.v.view(), w.o.view(), point_.heads, q.view(), k.view(),
                                            v.view(), uncached_.view(), cached_.view()});
    std::string wrong_projection;
    if (!agreement.wrong_projection.empty()) wrong_projection = fmt::format("wrong product: {} of all tokens", agreement.wrong_projection);
    judge(rows[0], agreement, agreement.uncached, wrong_projection);
    judge(rows[1], agreement, agreement.cached, "");
    rows[0].output_hash = Fingerprint().add(uncached_).text();
    rows[1].output_hash = Fingerprint().add(cached_).text();
    for (GenerationRow& row : rows) {
      row.input_hash = Fingerprint().add(in.x).add(w.q).add(w.k).add(w.v).add(w.o).text();
    }
  }

  static void judge(GenerationRow& row, const GenerationAgreement& agreement, const LargestShare& share, const std::string& other_fault) {
    row.rows = agreement.rows;
    row.largest_share = share.share;
    row.largest_difference = agreement.largest_difference;
    row.reason = other_fault.empty() ? fault_of(share) : other_fault;
    if (!row.reason.empty()) row.status = Status::failed;
  }

  ModelPoint point_;
  std::vector<GenerationInputs<T>> inputs_;
  UncachedBuffers<T> uncached_buffers_;
  CachedBuffers<T> cached_buffers_;
  KvCache<T> cache_;
  Matrix<T> uncached_, cached_;  // outputs
};

// What the rates are compared with, and warnings where they exceed it.
void add_ceilings(std::vector<GenerationRow>& rows, const Ceilings& ceilings) {
  if (rows.empty()) return;
  const double peak = peak_gflops_for(ceilings, rows.front().point.precision, fastest_gflops(rows));
  for (GenerationRow& row : rows) {
    if (!row.timed()) continue;
    row.peak_gflops = peak;
    std::optional<Warning> warning = ceiling_warning(row.gflops(), *row.peak_gflops, "GFLOP/s");
    if (row.way == GenerationWay::cached) {
      row.read_gbps_ceiling = measure_read_gbps(held_bytes(row), threads());
      if (!warning) warning = ceiling_warning(row.gbps(), *row.read_gbps_ceiling, "read GB/s");
    }
    if (warning) row.measurement->warnings.push_back(*warning);
  }
}

template <class T>
void measure_rows(std::vector<GenerationRow>& rows, const GenerationOptions& options, const ModelPoint& point, Generator& generator) {
  GenerationMeasurer<T>(point, generator).measure(rows, options.sampler);
}

}  // namespace

std::string_view name_of(GenerationWay way) { return way == GenerationWay::uncached ? "no-cache" : "kv-cache"; }

std::size_t held_bytes(const GenerationRow& row) {
  const double bytes = weight_numbers(row.point) * size_of(row.point) + static_cast<double>(row.cache_bytes);
  const std::size_t beyond_caches = bandwidth_working_set(machine_facts().caches, available_memory().free_bytes);
  return static_cast<std::size_t>(std::min(bytes, static_cast<double>(beyond_caches)));
}

double generation_numbers(const ModelPoint& point) { return token_numbers(point) + weight_numbers(point); }

std::vector<GenerationRow> blank_generation_rows(const ModelPoint& point, const RowStream& stream) {
  std::vector<GenerationRow> rows(2);
  const LayerShape shape = shape_of(point);
  for (GenerationRow& row : rows) {
    row.point = point;
    row.stream_position = stream.position();
  }
  rows[0].flops = uncached_generation_flops(shape, point.n);
  rows[0].bytes_model = uncached_generation_traffic(shape, point.n) * size_of(point);
  rows[1].way = GenerationWay::cached;
  rows[1].flops = cached_generation_flops(shape, point.n);
  rows[1].bytes_model = cached_generation_traffic(shape, point.n) * size_of(point);
  rows[1].cache_bytes = static_cast<Index>(std::min(2 * token_numbers(point) * size_of(point), 9e18));
  return rows;
}

std::vector<GenerationRow> measure_generation_point(const GenerationOptions& options, const ModelPoint& point, RowStream& stream,
                                                    const Ceilings& ceilings) {
  std::vector<GenerationRow> rows = blank_generation_rows(point, stream);
  const auto failure = try_row(stream, generation_numbers(point), [&] {
    require_memory(point_bytes(point), fmt::format("generate-sweep: n = {}", point.n));
    if (point.precision == Precision::f32) {
      measure_rows<float>(rows, options, point, stream.generator());
    } else {
      measure_rows<double>(rows, options, point, stream.generator());
    }
  });
  if (failure) {
    for (GenerationRow& row : rows) {
      row.status = failure->status;
      row.reason = failure->reason;
    }
    return rows;
  }
  add_ceilings(rows, ceilings);
  return rows;
}

std::vector<GenerationGrowth> growth_of(const std::vector<GenerationRow>& rows) {
  std::vector<GenerationGrowth> growths;
  for (std::size_t first = 0; first < rows.size(); ++first) {
    const GenerationRow& head = rows[first];
    const auto of_series = [&head](const GenerationRow& row) {
      return row.timed() && row.way == head.way && row.point.same_model(head.point);
    };
    if (!of_series(head) || std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(first), of_series)) continue;
    GenerationGrowth growth{head.point, head.way, {}, {}};
    std::vector<double> n, time, flops;
    for (const GenerationRow& row : rows) {
      if (!of_series(row)) continue;
      n.push_back(static_cast<double>(row.point.n));
      time.push_back(row.median_s());
      flops.push_back(row.flops);
    }
    const auto of_time = fit_growth(n, time);
    const auto of_flops = fit_growth(n, flops);
    if (!of_time || !of_flops) continue;
    growth.time = *of_time;
    growth.flops = *of_flops;
    growths.push_back(growth);
  }
  return growths;
}

GenerationResult measure_generation(const GenerationOptions& options) {
  std::vector<Precision> precisions;
  for (const ModelPoint& point : options.points) precisions.push_back(point.precision);
  const Ceilings ceilings = arithmetic_ceilings(precisions);
  RowStream stream(options.seed, options.advance);
  GenerationResult result;
  for (const ModelPoint& point : options.points) {
    std::vector<GenerationRow> rows = measure_generation_point(options, point, stream, ceilings);
    std::move(rows.begin(), rows.end(), std::back_inserter(result.rows));
  }
  result.growths = growth_of(result.rows);
  return result;
}

}  // namespace attn
