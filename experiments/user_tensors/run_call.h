// Runs a call by one of the algorithms, and gives back what is asked for in the type it is to be saved in.
#pragma once

#include <optional>
#include <string_view>

#include "user_tensors/attention_call.h"

namespace attn {

enum class Algorithm { fused, standard, reference };
enum class ScoresStage { raw, capped, masked, softmax };

std::string_view algorithm_name(Algorithm algorithm);

// What is wanted besides the output.
struct WantedOutputs {
  bool lse = false;
  bool weights = false;
  std::optional<ScoresStage> scores;

  bool has_scores() const { return weights || scores.has_value(); }
};

// The algorithm a user means: `fused` where nothing needs the scores. Throws UsageError where `fused` is chosen and scores are wanted.
Algorithm resolve_algorithm(std::optional<Algorithm> chosen, const WantedOutputs& wanted);

struct CallOutputs {
  Tensor output;                          // q's type, layout and rank
  std::optional<Tensor> weights, scores;  // (batch, heads, seq_q, seq_k), less what q lacks in front; q's type
  std::optional<Tensor> lse;              // (batch, heads, seq_q), likewise; the type of the computation
};

// Everything is computed in T and rounded once. Throws MemoryError.
template <class T>
CallOutputs run_call(const AttentionCall<T>& call, Algorithm algorithm, const WantedOutputs& wanted);

}  // namespace attn
