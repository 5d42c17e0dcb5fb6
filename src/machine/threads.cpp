#include "machine/threads.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "machine/cgroup.h"
#include "machine/error.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace attn {
namespace {

std::atomic<int> chosen_threads{0};  // 0: not set, the default

int affinity_cores() {
  const std::size_t cpus = affinity_cpus().size();
  return cpus > 0 ? static_cast<int>(cpus) : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Whole cores of one group's quota. Version 2: cpu.max holds "quota period", quota "max" for none; version 1: two files, -1 for none.
int quota_cores(const CgroupDirectory& group) {
  double quota = -1;
  double period = 0;
  if (group.version == 2) {
    std::istringstream(read_first_line(group.path / "cpu.max").value_or("")) >> quota >> period;
  } else {
    quota = static_cast<double>(read_number(group.path / "cpu.cfs_quota_us").value_or(-1));
    period = static_cast<double>(read_number(group.path / "cpu.cfs_period_us").value_or(0));
  }
  if (!(quota > 0 && period > 0)) return std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(quota / period, 1.0, 1e6));
}

}  // namespace

std::vector<int> affinity_cpus() {
  std::vector<int> cpus;
#if defined(__linux__)
  // The mask must be as long as the kernel's, which no call tells: doubled until it is.
  for (int size = 1024; size <= (1 << 20) && cpus.empty(); size *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(size));
    if (mask == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    if (sched_getaffinity(0, bytes, mask) == 0) {
      for (int cpu = 0; cpu < size; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask)) cpus.push_back(cpu);
      }
    }
    CPU_FREE(mask);
  }
#endif
  return cpus;
}

int default_threads(const std::filesystem::path& root) {
  int cores = affinity_cores();
  for (const CgroupDirectory& group : cgroup_directories("cpu", root)) cores = std::min(cores, quota_cores(group));
  return cores;
}

int max_threads() { return std::max(64, 8 * static_cast<int>(std::thread::hardware_concurrency())); }

void set_threads(int threads) {
  if (threads < 1 || threads > max_threads()) {
    throw UsageError("threads: expected 1 to " + std::to_string(max_threads()) + ", found " + std::to_string(threads));
  }
  chosen_threads = threads;
}

int threads() {
  static const int by_default = default_threads();
  const int chosen = chosen_threads;
  return chosen > 0 ? chosen : by_default;
}

}  // namespace attn
