// Mistakes that attention kernels are known to make, made on purpose from the oracle's own scores: to see whether these inputs would show
// them, and to name the one that an output matches.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/row_context.h"

namespace attn {

template <class T>
struct KnownMistake {
  std::string name;  // "top-left causal alignment"
  std::string hint;  // inputs that would show it: "make seq_q and seq_k differ"
  // The wrong row; nothing where the mistake leaves this row as it is. Missing where the shapes make the mistake no mistake at all, such as
  // the other causal alignment for as many queries as keys.
  std::function<std::optional<ExpectedRow>(const RowContext<T>&)> make;
};

// Those that have to do with the options and shapes in use, in the order in which they are tried.
template <class T>
std::vector<KnownMistake<T>> known_mistakes(const AttentionShape& shape, const AttentionOptions<T>& options);

}  // namespace attn
