// What makes two rows of different documents the same row: all their parameters.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/report.h"

namespace attn {

// The names of a row's parameters, in the order in which they are printed; `threads` belongs to them only where a document's rows differ
// in it: otherwise it is a fact of the run. Where in the stream a row's numbers began is no parameter: the hash of its inputs tells.
std::span<const std::string_view> parameter_names();

// The parameters of a row, without those that stand at their default or are absent: {"experiment": "timing-sweep", "seq_q": 512, ...}.
Json parameters_of(const Json& row, bool with_threads);

// The same as words: "fused f32 n=512 d=64 heads=8 causal"; names are given to what does not tell itself, and n stands for equal seq_q
// and seq_k, d for equal widths.
std::string label_of(const Json& parameters);

}  // namespace attn
