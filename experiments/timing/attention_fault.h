// Whether a timed attention's output is right: a sample of its rows against the oracle.
#pragma once

#include <string>

#include "attention/problem.h"

namespace attn {

// What is wrong with tensors.o; empty where nothing is. Looks at some heads, and of each at some query rows: the first, the last, those
// around tile edges, and some others drawn from a fixed seed. T is float or double.
template <class T>
std::string attention_fault(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options);

}  // namespace attn
