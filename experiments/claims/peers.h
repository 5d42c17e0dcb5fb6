// Rows of PyTorch's attention that scripts/peers/run wrote, and claim `dispatch`: PyTorch picks a fused kernel by itself.
//
// Of each problem PyTorch is called by default, held to its fused backends, and held to its plain one. Whether the default is fused is read
// from the kernel that it says it chose, and from its time, which must be nearer to the fused one than to the plain one (as a ratio).
//
// Source: document 2 on scaled_dot_product_attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "claims/claim.h"

namespace attn {

struct PeerTimes {
  std::vector<double> samples_ns;
  std::optional<double> peak_bytes = std::nullopt;
  std::string kernel = {};  // what the library says it runs; empty where it does not

  double median_s() const;
};

// One problem with the calls that were timed.
struct PeerProblem {
  std::string dtype;
  bool causal = false;
  Index n = 0, heads = 1, d = 0;
  std::optional<PeerTimes> by_default = std::nullopt, fused = std::nullopt, plain = std::nullopt;
};

// Rows that passed, of problems with as many queries as keys. Throws FileError where one call of a problem occurs twice.
std::vector<PeerProblem> pytorch_problems(const std::vector<Json>& rows);

// Rows of one file, or of several separated by commas. Throws FileError for one that is no document, or has no row of PyTorch; UsageError
// where CPU or threads differ.
std::vector<Json> read_peers(const std::string& paths);

Judged judge_dispatch(const std::vector<PeerProblem>& problems);

Claim dispatch_claim();

}  // namespace attn
