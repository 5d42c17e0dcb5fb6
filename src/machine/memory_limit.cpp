#include "machine/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>

#include "machine/cgroup.h"
#include "machine/error.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t bytes_per_kib = 1024;

std::uint64_t remaining(std::uint64_t limit, std::int64_t used) {
  const auto taken = static_cast<std::uint64_t>(std::max<std::int64_t>(used, 0));
  return limit > taken ? limit - taken : 0;
}

// File pages not used lately are dropped before a group runs out of memory, so they are not use.
std::optional<MemoryLimit> cgroup_limit(const CgroupDirectory& group) {
  const bool v2 = group.version == 2;
  const auto limit = read_number(group.path / (v2 ? "memory.max" : "memory.limit_in_bytes"));
  if (!limit || *limit < 0) return std::nullopt;
  const std::int64_t used = read_number(group.path / (v2 ? "memory.current" : "memory.usage_in_bytes")).value_or(0);
  const std::int64_t droppable = read_field(group.path / "memory.stat", v2 ? "inactive_file" : "total_inactive_file").value_or(0);
  return MemoryLimit{"cgroup memory limit", remaining(static_cast<std::uint64_t>(*limit), used - droppable)};
}

// `field` of /proc/self/status (kB) is what counts against `resource`.
std::optional<MemoryLimit> resource_limit(int resource, const char* name, const fs::path& root, std::string_view field) {
  rlimit limit{};
  if (getrlimit(static_cast<decltype(RLIMIT_AS)>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::int64_t used = read_field(root / "proc/self/status", field).value_or(0) * bytes_per_kib;
  return MemoryLimit{name, remaining(limit.rlim_cur, used)};
}

}  // namespace

std::vector<MemoryLimit> memory_limits(const fs::path& root) {
  std::vector<MemoryLimit> result;
  if (const auto kib = read_field(root / "proc/meminfo", "MemAvailable")) {
    result.push_back({"available memory", remaining(static_cast<std::uint64_t>(*kib * bytes_per_kib), 0)});
  }
  for (const CgroupDirectory& group : cgroup_directories("memory", root)) {
    if (const auto limit = cgroup_limit(group)) result.push_back(*limit);
  }
  if (const auto limit = resource_limit(RLIMIT_AS, "address space limit", root, "VmSize")) result.push_back(*limit);
  if (const auto limit = resource_limit(RLIMIT_DATA, "data limit", root, "VmData")) result.push_back(*limit);
  return result;
}

MemoryLimit available_memory() {
  MemoryLimit least{"no limit", static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())};
  for (const MemoryLimit& limit : memory_limits()) {
    if (limit.free_bytes < least.free_bytes) least = limit;
  }
  return least;
}

void require_memory(std::uint64_t bytes, std::string_view what) {
  const MemoryLimit limit = available_memory();
  if (bytes <= limit.free_bytes) return;
  throw MemoryError(std::string(what) + ": memory: expected " + format_bytes(bytes) + " available, found " +
                    format_bytes(limit.free_bytes) + " (" + limit.name + ")");
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 7> units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

}  // namespace attn
