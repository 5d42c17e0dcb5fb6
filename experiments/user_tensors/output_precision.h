// What the type of an output means for its check.
#pragma once

#include <optional>

#include "io/tensor.h"
#include "verify/tolerance.h"

namespace attn {

// `value` rounded to a floating-point type, half to even, as float64.
double rounded_to(Dtype dtype, double value);

// eps_out is half an ulp at 1 of the output's type: 2^-8 bfloat16, 2^-11 float16, 2^-24 float32, 2^-53 float64. eps_acc is that of the type
// the call is computed in, or of `accumulate`, the type that the sums were kept in.
Tolerance tolerance_for(Dtype output, Dtype computed, std::optional<Dtype> accumulate);

// "2^-24"
std::string power_text(double power_of_two);

}  // namespace attn
