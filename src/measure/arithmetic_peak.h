// How many floating-point operations a second the cores can do, on the instruction set in use: the ceiling of every product of matrices.
#pragma once

#include <string>

#include "measure/bursts.h"

namespace attn {

struct ArithmeticPeak {
  double gflops = 0;  // a multiplication and an addition are two operations
  bool fma = false;   // by fused multiply-add; else by multiplications and additions in equal number (targets SSE4, SSSE3, SCALAR)
  int threads = 0;
  std::string isa;  // the target that ran
};

// Measured with independent accumulators in registers, no memory. T is float or double. A kernel of the same target cannot do more
// multiplications and additions in the same time at the same clock, but for SCALAR, where a compiler may find vectors in a kernel's loops.
// Throws UsageError unless threads >= 1.
template <class T>
ArithmeticPeak measure_arithmetic_peak(int threads, const BurstOptions& options = {});

}  // namespace attn
