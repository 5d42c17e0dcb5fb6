// The clock of all timings: steady, and its resolution measured rather than believed.
#pragma once

#include <cstdint>
#include <functional>

namespace attn {

// Nanoseconds since some fixed moment. Tests pass a clock of their own.
using Clock = std::function<std::int64_t()>;

// std::chrono::steady_clock.
std::int64_t steady_now_ns();

// CPU time of the calling thread: does not go on while others have its core.
std::int64_t thread_cpu_ns();

// The smallest step by which `clock` was seen to advance, over `steps` steps: the greater of its tick and the cost of reading it.
// A clock that stands still for a million readings throws Error.
std::int64_t clock_resolution_ns(const Clock& clock = steady_now_ns, int steps = 100);

}  // namespace attn
