#include "user_tensors/tensor_difference.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace attn {
namespace {

// The place of a number among all of its type in rising order; both zeros have the same.
std::int64_t place(std::uint64_t bits, int width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::int64_t place_of(Dtype dtype, double value) {
  if (dtype == Dtype::f16) return place(Float16(value).bits, 16);
  if (dtype == Dtype::bf16) return place(BFloat16(value).bits, 16);
  if (dtype == Dtype::f32) return place(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 32);
  return place(std::bit_cast<std::uint64_t>(value), 64);
}

int digits(Dtype dtype) { return dtype == Dtype::bf16 ? 8 : dtype == Dtype::f16 ? 11 : dtype == Dtype::f32 ? 24 : 53; }

Dtype coarser(Dtype a, Dtype b) { return digits(a) < digits(b) ? a : is_floating_point(b) ? b : Dtype::f64; }

// 0, 1, 2, 3 to 4, 5 to 8, ...
std::size_t bucket(std::uint64_t ulps) { return static_cast<std::size_t>(ulps < 2 ? ulps : 1 + std::bit_width(ulps - 1)); }

constexpr std::size_t last_bucket = 66;

void keep_worst(std::vector<DifferentElement>& worst, std::size_t most) {
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.ulps > b.ulps; });
  if (worst.size() > most) worst.resize(most);
}

}  // namespace

std::uint64_t ulps_between(Dtype dtype, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : unordered;
  const std::int64_t from = place_of(dtype, a);
  const std::int64_t to = place_of(dtype, b);
  const auto distance = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  return to >= from ? distance : std::uint64_t{0} - distance;
}

TensorDifference compare_tensors(const Tensor& a, const Tensor& b, const DifferenceSettings& settings) {
  const Matrix<double> values_a = a.to_matrix<double>();
  const Matrix<double> values_b = b.to_matrix<double>();
  TensorDifference result;
  result.dtype = coarser(a.dtype(), b.dtype());
  result.elements = values_a.size();
  result.histogram.assign(last_bucket + 1, 0);
  for (Index at = 0; at < result.elements; ++at) {
    const DifferentElement element{at, values_a.data()[at], values_b.data()[at],
                                   ulps_between(result.dtype, values_a.data()[at], values_b.data()[at])};
    ++result.histogram[element.ulps == unordered ? last_bucket : bucket(element.ulps)];
    result.equal += element.ulps == 0 ? 1 : 0;
    // Next to an infinity the bound would be infinite, and everything within it.
    const bool finite = std::isfinite(element.a) && std::isfinite(element.b);
    const bool near = finite && std::abs(element.a - element.b) <= settings.atol + settings.rtol * std::abs(element.b);
    if (element.ulps > settings.ulps && !near) ++result.beyond;
    if (element.ulps > 0) result.worst.push_back(element);
    if (result.worst.size() > 64 * settings.most_elements) keep_worst(result.worst, settings.most_elements);
  }
  keep_worst(result.worst, settings.most_elements);
  return result;
}

}  // namespace attn
