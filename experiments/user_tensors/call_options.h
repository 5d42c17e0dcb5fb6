// The options by which a user describes a call of attention on tensors in files; `run` and `check` share them.
#pragma once

#include <optional>
#include <string>

#include "attention/problem.h"
#include "report/report.h"
#include "user_tensors/arrangement.h"

namespace CLI {
class App;
}

namespace attn {

enum class Alignment { top_left, bottom_right };

struct CallOptions {
  // Where the tensors are; empty: not given.
  std::string q, k, v, mask, past_k, past_v, kv_lengths;
  Layout layout = Layout::hnd;
  Index num_heads = 0, num_kv_heads = 0;  // 0: not given
  bool causal = false;
  std::optional<Alignment> align;
  std::optional<Index> q_offset;
  Index window_left = unlimited, window_right = unlimited;
  std::optional<double> scale;
  double softcap = 0;
  std::optional<Dtype> softmax_precision;

  bool has_window() const { return window_left != unlimited || window_right != unlimited; }
};

// Adds all of them; --q, --k and --v are required.
void add_call_options(CLI::App& app, CallOptions& options);

// What makes no sense whatever the files hold: an option that would be ignored or that contradicts another. Throws UsageError.
void check_call_options(const CallOptions& options);

// The options that were given, for a report's args.
Json call_args(const CallOptions& options);

}  // namespace attn
