// The instruction sets ("targets") that the kernels are compiled for, by Highway's names, and the one in use.
//
// Every kernel is compiled once per target; Highway picks the best one that the processor has, or the one that is forced here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Names of the targets that are compiled in and that this processor runs, best first: "AVX3", "AVX2", "SSE4", "SSSE3", "SCALAR" on
// x86 (AVX3 is AVX-512 F, BW, CD, DQ, VL). Never empty, and the same whatever is forced.
std::vector<std::string> available_targets();

// Name of the target that the kernels really run: reported by code that is dispatched as they are.
std::string active_target();

// Makes all kernels of the process run the target of that name, in any case of letters; common other names (avx512, sse4.2, none) are
// understood. Not while kernels are running. Throws UsageError, with the names there are, where the build or the processor has no such
// target.
void force_target(std::string_view name);

// Goes back to the best target.
void unforce_target();

// Forces the target named by the environment variable ATTN_ISA; unset or empty, nothing happens. Throws as force_target does.
void force_target_from_environment();

}  // namespace attn
