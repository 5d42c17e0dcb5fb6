#include "timing/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "attention/visibility.h"
#include "machine/error.h"

namespace attn {
namespace {

double product(std::initializer_list<Index> sizes) {
  double result = 1;
  for (const Index size : sizes) result *= static_cast<double>(size);
  return result;
}

// Elements of (batch, heads, rows, cols).
double elements(const AttentionShape& shape, Index heads, Index rows, Index cols) { return product({shape.batch, heads, rows, cols}); }

double output_elements(Work work, const AttentionShape& shape) {
  return elements(shape, shape.heads, shape.seq_q, is_product(work) ? shape.seq_k : shape.head_dim_v);
}

}  // namespace

Work parse_work(std::string_view name) {
  for (const Work work : {Work::scores, Work::standard, Work::fused, Work::decode, Work::gemm}) {
    if (name == name_of(work)) return work;
  }
  throw UsageError(fmt::format("--what: expected scores, standard, fused, decode or gemm, found '{}'", name));
}

std::string_view name_of(Work work) {
  switch (work) {
    case Work::scores:
      return "scores";
    case Work::standard:
      return "standard";
    case Work::fused:
      return "fused";
    case Work::decode:
      return "decode";
    case Work::gemm:
      return "gemm";
  }
  return "";
}

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "f64"; }

std::size_t bytes_of(Precision precision) { return precision == Precision::f32 ? sizeof(float) : sizeof(double); }

AttentionShape shape_of(Work work, const TimingPoint& point) {
  AttentionShape shape{point.batch, point.heads, point.kv_heads, point.n, point.n_k, point.d, has_values(work) ? point.d_v : 0};
  if (work == Work::gemm) shape = {1, 1, 1, point.n, point.n_k, point.gemm_k, 0};
  if (work == Work::decode) {
    shape.seq_q = 1;
    shape.seq_k = point.n;
  }
  return shape;
}

Modifiers applied_modifiers(Work work, const Modifiers& given) { return is_product(work) ? Modifiers() : given; }

template <class T>
AttentionOptions<T> options_of(const Modifiers& modifiers, const AttentionShape& shape) {
  AttentionOptions<T> options;
  options.causal = modifiers.causal;
  options.window_left = modifiers.window_left;
  options.window_right = modifiers.window_right;
  options.softcap = modifiers.softcap;
  options.offset = shape.seq_k - shape.seq_q;
  return options;
}

template AttentionOptions<float> options_of(const Modifiers&, const AttentionShape&);
template AttentionOptions<double> options_of(const Modifiers&, const AttentionShape&);

double flops_of(Work work, const TimingPoint& point, const Modifiers& modifiers) {
  const AttentionShape shape = shape_of(work, point);
  if (is_product(work)) return 2 * output_elements(work, shape) * static_cast<double>(shape.head_dim);
  return 2 * static_cast<double>(shape.head_dim + shape.head_dim_v) * visible_pairs(shape, options_of<double>(modifiers, shape));
}

double input_bytes_of(Work work, const TimingPoint& point) {
  const AttentionShape shape = shape_of(work, point);
  const double numbers = elements(shape, shape.heads, shape.seq_q, shape.head_dim) +
                         elements(shape, shape.kv_heads, shape.seq_k, shape.head_dim + shape.head_dim_v);
  return numbers * static_cast<double>(bytes_of(point.precision));
}

double bytes_model_of(Work work, const TimingPoint& point, const Modifiers& modifiers) {
  const AttentionShape shape = shape_of(work, point);
  const double size = static_cast<double>(bytes_of(point.precision));
  const double ends = input_bytes_of(work, point) + output_elements(work, shape) * size;
  if (work != Work::standard) return ends;
  return ends + 4 * size * visible_pairs(shape, options_of<double>(modifiers, shape));
}

double working_bytes_of(Work work, const TimingPoint& point) {
  const AttentionShape shape = shape_of(work, point);
  const double size = static_cast<double>(bytes_of(point.precision));
  const double output = output_elements(work, shape) * size;
  // Packed copies of the operands come on top everywhere; `standard` keeps the scores of at least one head.
  return output + input_bytes_of(work, point) + (work == Work::standard ? size * product({shape.seq_q, shape.seq_k}) : 0);
}

}  // namespace attn
