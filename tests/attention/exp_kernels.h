// The functions of attention/exp-inl.h on arrays, on the target in use.
#pragma once

#include <vector>

namespace attn {

enum class ExpFunction { exp, exp_nonpositive, exp2_nonpositive, tanh };

// values[i] = function(values[i]); the number of values is a multiple of 64.
void evaluate(ExpFunction function, std::vector<float>& values);
void evaluate(ExpFunction function, std::vector<double>& values);

}  // namespace attn
