// Why document 1's table looks as it does. NumPy turns Q K^T with K is Q into a SYRK: BLAS computes one triangle, and NumPy copies it
// element by element into the other. And every repetition writes into fresh memory, which the system hands out page by page, zeroed.
// Here the parts are measured one by one, and the whole is compared with their sum.
#pragma once

#include "numpy/seed_sequence.h"
#include "report/report.h"

namespace attn {

struct ExplainOptions {
  Index n = 4096;
  Index d = 64;
  Seed seed;
};

// Throws MemoryError where three results do not fit into memory.
Report explain_report(const ExplainOptions& options);

}  // namespace attn
