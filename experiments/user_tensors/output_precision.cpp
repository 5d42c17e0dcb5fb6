#include "user_tensors/output_precision.h"

#include <fmt/format.h>

#include <cmath>

namespace attn {
namespace {

struct Precision {
  double half_ulp;  // at 1
  double tiny;      // half the smallest positive number
};

Precision precision_of(Dtype dtype) {
  if (dtype == Dtype::bf16) return {0x1p-8, 0x1p-134};
  if (dtype == Dtype::f16) return {0x1p-11, 0x1p-25};
  if (dtype == Dtype::f32) return {0x1p-24, 0x1p-150};
  return {0x1p-53, 0x1p-1074};
}

}  // namespace

double rounded_to(Dtype dtype, double value) {
  if (dtype == Dtype::bf16) return static_cast<float>(BFloat16(value));
  if (dtype == Dtype::f16) return static_cast<float>(Float16(value));
  return dtype == Dtype::f32 ? static_cast<float>(value) : value;
}

Tolerance tolerance_for(Dtype output, Dtype computed, std::optional<Dtype> accumulate) {
  const Precision precision = precision_of(output);
  return {precision.half_ulp, precision_of(accumulate.value_or(computed)).half_ulp, Tolerance().c, precision.tiny};
}

std::string power_text(double power_of_two) { return fmt::format("2^{}", std::ilogb(power_of_two)); }

}  // namespace attn
