// The measuring half of layer_sweep.h.
#include <algorithm>
#include <cmath>

#include "attention/standard.h"
#include "gemm/gemm.h"
#include "layer_sweep.h"
#include "machine/error.h"
#include "machine/memory_limit.h"
#include "report/fingerprint.h"
#include "sweep/draw.h"
#include "timing/attention_fault.h"
#include "timing/measuring_options.h"
#include "verify/feed_forward_check.h"
#include "verify/judge.h"
#include "verify/product_check.h"

namespace attn {
namespace {

constexpr std::uint64_t check_seed = 20170612;  // of the check, not of what is timed
constexpr int input_buffers = 2;
constexpr LayerPart all_parts[] = {LayerPart::projections, LayerPart::standard_attention, LayerPart::fused_attention,
                                   LayerPart::feed_forward};

LayerShape shape_of(const ModelPoint& point) { return layer_shape(point.d_model, point.heads); }

double flops_of(LayerPart part, const ModelPoint& point, bool causal) {
  const LayerShape shape = shape_of(point);
  if (part == LayerPart::projections) return projection_flops(shape, point.n);
  if (part == LayerPart::feed_forward) return feed_forward_flops(shape, point.n);
  return attention_flops(shape, point.n, causal);
}

// Tokens, weights, q, k, v, o, y in all buffers; hidden rows and two outputs once; one head's scores of the standard algorithm.
std::uint64_t point_bytes(const ModelPoint& point) {
  const double n = static_cast<double>(point.n);
  const double d = static_cast<double>(point.d_model);
  const double numbers = input_buffers * (layer_numbers(point) + 5 * n * d) + (4 + 2) * n * d + n * n;
  return static_cast<std::uint64_t>(std::min(numbers * static_cast<double>(bytes_of(point.precision)), 9e18));
}

// What one buffer holds: the layer's numbers, and what its parts make of one another.
template <class T>
struct LayerBuffer {
  Matrix<T> x;
  AttentionWeights<T> weights;
  FeedForwardWeights<T> feed_forward;
  Matrix<T> q, k, v, o, y;  // (n, d_model)
};

template <class T>
void draw(LayerBuffer<T>& buffer, const ModelPoint& point, Generator& generator) {
  const LayerShape shape = shape_of(point);
  const double root = std::sqrt(static_cast<double>(shape.d_model));
  buffer.x = draw_normals<T>(point.n, shape.d_model, generator);
  for (Matrix<T>* weights : {&buffer.weights.q, &buffer.weights.k, &buffer.weights.v, &buffer.weights.o}) {
    *weights = draw_normals<T>(shape.d_model, shape.d_model, generator, root);
  }
  buffer.feed_forward.in = draw_normals<T>(shape.d_model, shape.d_hidden, generator, root);
  buffer.feed_forward.out = draw_normals<T>(shape.d_hidden, shape.d_model, generator, std::sqrt(static_cast<double>(shape.d_hidden)));
}

template <class T>
void copy_numbers(const LayerBuffer<T>& from, LayerBuffer<T>& to) {
  to.x = copy(from.x.view());
  to.weights = {copy(from.weights.q.view()), copy(from.weights.k.view()), copy(from.weights.v.view()), copy(from.weights.o.view())};
  to.feed_forward = {copy(from.feed_forward.in.view()), copy(from.feed_forward.out.view())};
}

// All parts at one point, in one precision.
template <class T>
class LayerMeasurer {
 public:
  LayerMeasurer(const ModelPoint& point, bool causal, Generator& generator)
      : point_(point),
        causal_(causal),
        standard_o_(point.n, point.d_model),
        hidden_(point.n, shape_of(point).d_hidden),
        z_(point.n, point.d_model),
        scores_(1, standard_scores_elements({1, point.heads, point.heads, point.n, point.n, 1, 1})),
        buffers_(input_buffers) {
    for (LayerBuffer<T>& buffer : buffers_) {
      if (&buffer == buffers_.data()) {
        draw(buffer, point, generator);
      } else {
        copy_numbers(buffers_.front(), buffer);
      }
      for (Matrix<T>* m : {&buffer.q, &buffer.k, &buffer.v, &buffer.o, &buffer.y}) *m = Matrix<T>(point.n, point.d_model);
    }
  }

  void measure(std::vector<LayerPartRow>& rows, const SamplerOptions& sampler) {
    // Once through the layer, so that every part finds its operands.
    for (int buffer = 0; buffer < input_buffers; ++buffer) {
      project_inputs(buffers_[static_cast<std::size_t>(buffer)]);
      run(LayerPart::fused_attention, buffer);
      project_output(buffers_[static_cast<std::size_t>(buffer)]);
    }
    std::vector<TimedBody> bodies;
    for (const LayerPart part : all_parts) {
      bodies.push_back(
          {fmt::format("{}, {}", name_of(part), algorithm_of(part)), [this, part](int buffer) { run(part, buffer); }, input_buffers});
    }
    const std::vector<Measurement> measurements = measure_interleaved(bodies, sampler);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].measurement = measurements[i];
      rows[i].reason = fault(rows[i].part);
      if (!rows[i].reason.empty()) rows[i].status = Status::failed;
      rows[i].input_hash = input_hash();
      rows[i].output_hash = output_hash(rows[i].part);
    }
  }

 private:
  void run(LayerPart part, int number) {
    LayerBuffer<T>& b = buffers_[static_cast<std::size_t>(number)];
    switch (part) {
      case LayerPart::projections:
        project_inputs(b);
        return project_output(b);
      case LayerPart::standard_attention:
        return attend<T>(AttentionAlgorithm::standard, point_.heads, causal_, b.q.view(), b.k.view(), b.v.view(), standard_o_.view(),
                         scores_.data());
      case LayerPart::fused_attention:
        return attend<T>(AttentionAlgorithm::fused, point_.heads, causal_, b.q.view(), b.k.view(), b.v.view(), b.o.view());
      case LayerPart::feed_forward:
        return feed_forward<T>(b.feed_forward, b.y.view(), hidden_.view(), z_.view());
    }
  }

  static void multiply(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) { gemm(T{1}, a.view(), b.view(), T{0}, c.view()); }
  static void project_inputs(LayerBuffer<T>& b) {
    multiply(b.x, b.weights.q, b.q);
    multiply(b.x, b.weights.k, b.k);
    multiply(b.x, b.weights.v, b.v);
  }
  static void project_output(LayerBuffer<T>& b) { multiply(b.o, b.weights.o, b.y); }

  // What is wrong with the part's last output; empty where nothing is. Products by Freivalds' test, the others by the oracle on some rows.
  std::string fault(LayerPart part) const {
    const LayerBuffer<T>& b = buffers_.front();
    if (part == LayerPart::projections) return projection_fault(b);
    if (part == LayerPart::standard_attention) return fault_of_attention(b, standard_o_);
    if (part == LayerPart::fused_attention) return fault_of_attention(b, b.o);
    constexpr Index checked_rows = 8;
    std::vector<Index> rows;
    for (Index i = 0; i < checked_rows; ++i) rows.push_back((point_.n - 1) * i / (checked_rows - 1));
    const LargestShare share = check_feed_forward<T>(b.y.view(), b.feed_forward.in.view(), b.feed_forward.out.view(), z_.view(), rows);
    if (share.within()) return {};
    return fmt::format("wrong output: token {}, column {}: expected {:.8g}, found {:.8g}, allowed {:.2g}", share.row, share.column,
                       share.expected, share.found, share.allowed);
  }

  std::string projection_fault(const LayerBuffer<T>& b) const {
    struct Product {
      const char* name;
      const Matrix<T>&a, &w, &c;
    };
    const AttentionWeights<T>& w = b.weights;
    for (const Product& p :
         {Product{"q", b.x, w.q, b.q}, Product{"k", b.x, w.k, b.k}, Product{"v", b.x, w.v, b.v}, Product{"y", b.o, w.o, b.y}}) {
      if (check_product<T>(p.a.view(), p.w.view(), false, p.c.view(), check_seed)) return fmt::format("wrong product: {}", p.name);
    }
    return {};
  }

  std::string fault_of_attention(const LayerBuffer<T>& b, const Matrix<T>& o) const {
    const Index head_dim = point_.d_model / point_.heads;
    const auto heads = [&](const Matrix<T>& m) { return TensorView<const T>::nhd(m.data(), 1, point_.heads, point_.n, head_dim); };
    AttentionOptions<T> options;
    options.causal = causal_;
    const auto output = TensorView<T>::nhd(const_cast<T*>(o.data()), 1, point_.heads, point_.n, head_dim);
    return attention_fault<T>({heads(b.q), heads(b.k), heads(b.v), output}, options);
  }

  std::string input_hash() const {
    const LayerBuffer<T>& b = buffers_.front();
    Fingerprint all;
    all.add(b.x).add(b.weights.q).add(b.weights.k).add(b.weights.v).add(b.weights.o).add(b.feed_forward.in).add(b.feed_forward.out);
    return all.text();
  }

  std::string output_hash(LayerPart part) const {
    const LayerBuffer<T>& b = buffers_.front();
    if (part == LayerPart::projections) return Fingerprint().add(b.q).add(b.k).add(b.v).add(b.y).text();
    if (part == LayerPart::feed_forward) return Fingerprint().add(z_).text();
    return Fingerprint().add(part == LayerPart::fused_attention ? b.o : standard_o_).text();
  }

  ModelPoint point_;
  bool causal_;
  Matrix<T> standard_o_, hidden_, z_, scores_;
  std::vector<LayerBuffer<T>> buffers_;
};

template <class T>
void measure_rows(std::vector<LayerPartRow>& rows, const LayerOptions& options, const ModelPoint& point, Generator& generator) {
  LayerMeasurer<T>(point, options.causal, generator).measure(rows, options.sampler);
}

}  // namespace

std::string_view name_of(LayerPart part) {
  if (part == LayerPart::projections) return "projections";
  return part == LayerPart::feed_forward ? "feed-forward" : "attention";
}

std::string_view algorithm_of(LayerPart part) {
  if (part == LayerPart::standard_attention) return "standard";
  return part == LayerPart::fused_attention ? "fused" : "gemm";
}

double layer_numbers(const ModelPoint& point) {
  const double d = static_cast<double>(point.d_model);
  const double hidden = static_cast<double>(shape_of(point).d_hidden);
  return static_cast<double>(point.n) * d + 4 * d * d + 2 * d * hidden;
}

std::vector<LayerPartRow> blank_layer_rows(const LayerOptions& options, const ModelPoint& point, const RowStream& stream) {
  std::vector<LayerPartRow> rows;
  for (const LayerPart part : all_parts) {
    LayerPartRow& row = rows.emplace_back();
    row.point = point;
    row.part = part;
    row.stream_position = stream.position();
    row.flops = flops_of(part, point, options.causal);
  }
  return rows;
}

std::vector<LayerPartRow> measure_layer_point(const LayerOptions& options, const ModelPoint& point, RowStream& stream,
                                              const Ceilings& ceilings) {
  std::vector<LayerPartRow> rows = blank_layer_rows(options, point, stream);
  const std::vector<LayerPartRow> blank = rows;
  const auto failure = try_row(stream, layer_numbers(point), [&] {
    require_memory(point_bytes(point), fmt::format("layer-sweep: n = {}", point.n));
    if (point.precision == Precision::f32) {
      measure_rows<float>(rows, options, point, stream.generator());
    } else {
      measure_rows<double>(rows, options, point, stream.generator());
    }
  });
  if (failure) {
    rows = blank;
    for (LayerPartRow& row : rows) {
      row.status = failure->status;
      row.reason = failure->reason;
    }
  }
  const double peak = peak_gflops_for(ceilings, point.precision, fastest_gflops(rows));
  for (LayerPartRow& row : rows) {
    if (!row.timed()) continue;
    row.peak_gflops = peak;
    const auto warning = ceiling_warning(row.gflops(), *row.peak_gflops, "GFLOP/s");
    if (warning) row.measurement->warnings.push_back(*warning);
  }
  return rows;
}

LayerResult measure_layer(const LayerOptions& options) {
  std::vector<Precision> precisions;
  for (const ModelPoint& point : options.points) precisions.push_back(point.precision);
  const Ceilings ceilings = arithmetic_ceilings(precisions);
  RowStream stream(options.seed, options.advance);
  LayerResult result;
  for (const ModelPoint& point : options.points) {
    std::vector<LayerPartRow> parts = measure_layer_point(options, point, stream, ceilings);
    const std::vector<LayerTotal> layers = layers_of(parts);
    result.layers.insert(result.layers.end(), layers.begin(), layers.end());
    std::move(parts.begin(), parts.end(), std::back_inserter(result.parts));
  }
  result.majorities = majorities_of(result.layers, options.causal);
  return result;
}

}  // namespace attn
