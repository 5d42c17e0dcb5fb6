// Claim `pytorch`: the outputs equal PyTorch's within 1e-15, in float64.
//
// The largest absolute difference from torch.nn.functional.scaled_dot_product_attention, on document 1's q, k, v and on standard normal
// ones by length n and width d (four rows each; scripts/make_pytorch_growth.py). An output is an average of normal values; two
// correct computations of it differ by a few roundings of size eps = 2.2e-16 times its size, which falls with n as the average of n values
// does, and rises with the number of additions. Which of them wins is what the growth with n and d shows.
//
// Source: document 1's comparison with PyTorch; data/pytorch/README.md.
#pragma once

#include <vector>

#include "claims/attend.h"
#include "claims/claim.h"

namespace attn {

struct PytorchDifference {
  bool document_1 = false;  // its example; else normal q, k, v
  Index n = 0, d = 0;
  bool causal = false;
  double difference = 0;
};

std::vector<PytorchDifference> measure_pytorch(const Attend<double>& attend);

Judged judge_pytorch(const std::vector<PytorchDifference>& differences);

Claim pytorch_claim();

}  // namespace attn
