// How two tensors of one shape differ, element by element.
#pragma once

#include <cstdint>
#include <vector>

#include "io/tensor.h"

namespace attn {

// Units in the last place between two numbers of a floating-point type: the numbers of that type one steps over, 0 for equal ones and for
// two NaN; `unordered` where one of them is NaN. Infinity counts as the number after the largest.
inline constexpr std::uint64_t unordered = ~std::uint64_t{0};
std::uint64_t ulps_between(Dtype dtype, double a, double b);

struct DifferenceSettings {
  std::uint64_t ulps = 0;  // an element is within where it is so near,
  double rtol = 0;         // or where |a - b| <= atol + rtol |b|
  double atol = 0;
  std::size_t most_elements = 11;  // kept of those that differ most
};

struct DifferentElement {
  Index at = 0;  // row-major
  double a = 0, b = 0;
  std::uint64_t ulps = 0;
};

struct TensorDifference {
  Dtype dtype = Dtype::f64;  // the type that ulps are counted in: the one with fewer digits, float64 for integers
  Index elements = 0, equal = 0, beyond = 0;
  std::vector<Index> histogram;         // [0]: 0 ulp, [1]: 1, [n]: more than 2^(n-2), at most 2^(n-1); last: NaN on one side
  std::vector<DifferentElement> worst;  // most ulps first
};

// `a` and `b` have the same shape.
TensorDifference compare_tensors(const Tensor& a, const Tensor& b, const DifferenceSettings& settings);

}  // namespace attn
