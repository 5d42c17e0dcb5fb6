// How many threads the library computes with.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace attn {

// The CPUs that the calling thread may run on, by the system's numbers (Linux: its CPU affinity); empty where the system does not tell.
std::vector<int> affinity_cpus();

// Cores that this process may keep busy: those of its CPU affinity, or fewer where a cgroup's CPU quota gives fewer. A fraction of a core
// is not counted (1.5 cores are 1), since a thread that outruns its quota is stopped for the rest of the period; but there is at least one.
// `root` stands for "/", so that a test can lay out its own cgroup files.
int default_threads(const std::filesystem::path& root = "/");

// More threads than this are taken for a mistake: eight per core, and 64 on any machine.
int max_threads();

// Sets the number of threads of every later call into the library. Throws UsageError unless 1 <= threads <= max_threads().
void set_threads(int threads);

// The number set, or default_threads(). Results never depend on it.
int threads();

}  // namespace attn
