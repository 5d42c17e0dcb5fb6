// How much memory this process may still take, and a check to make before it takes much.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct MemoryLimit {
  std::string name;              // what sets it: "available memory", "cgroup memory limit", "address space limit", "data limit"
  std::uint64_t free_bytes = 0;  // what it leaves, use already taken off
};

// Every limit that binds this process now: MemAvailable of the system; memory limits of its cgroups (versions 1 and 2, all ancestors) less
// their use, page cache that can be dropped not counted as use; RLIMIT_AS and RLIMIT_DATA less the process's use. `root` stands for "/",
// so that a test can lay out its own files.
std::vector<MemoryLimit> memory_limits(const std::filesystem::path& root = "/");

// The tightest of them; 2^63 - 1 bytes named "no limit" where none is known.
MemoryLimit available_memory();

// Throws MemoryError "<what>: memory: expected X available, found Y (<name of the limit>)" if `bytes` exceed available_memory().
// Nothing is allocated. Memory that the process has already mapped but not yet touched is not known to be taken.
void require_memory(std::uint64_t bytes, std::string_view what);

// "134.2 MB": three or more significant digits, decimal units.
std::string format_bytes(std::uint64_t bytes);

}  // namespace attn
