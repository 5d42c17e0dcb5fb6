// Memory's part of machine_facts().
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "machine/cgroup.h"
#include "measure/machine_facts.h"
#include "measure/system_files.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace attn {
namespace {

std::optional<std::uint64_t> soft_limit(int resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::uint64_t>(limit.rlim_cur);
}

// An entry of /proc/meminfo, which counts in kB of 1024 bytes.
std::optional<std::uint64_t> meminfo_bytes(const std::string& key) {
  const auto kib = read_field("/proc/meminfo", key);
  return kib ? std::optional(static_cast<std::uint64_t>(*kib) << 10) : std::nullopt;
}

// Version 1 writes "no limit" as the largest number of whole pages; no machine has so much memory.
constexpr std::int64_t unlimited_bytes = std::int64_t{1} << 62;

}  // namespace

std::optional<std::string> bracketed_word(const std::string& line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

MemoryFacts memory_facts() {
  MemoryFacts facts;
#ifdef __APPLE__
  std::uint64_t total = 0;
  std::size_t size = sizeof(total);
  if (sysctlbyname("hw.memsize", &total, &size, nullptr, 0) == 0) facts.total_bytes = total;
#else
  facts.total_bytes = meminfo_bytes("MemTotal");
  facts.available_bytes = meminfo_bytes("MemAvailable");
#endif
  facts.cgroup_limit_bytes = cgroup_memory_limit();
  facts.rlimit_address_space_bytes = soft_limit(RLIMIT_AS);
  facts.rlimit_data_bytes = soft_limit(RLIMIT_DATA);
  return facts;
}

std::optional<std::uint64_t> cgroup_memory_limit(const std::filesystem::path& root) {
  std::optional<std::uint64_t> smallest;
  for (const CgroupDirectory& group : cgroup_directories("memory", root)) {
    const auto limit = read_number(group.path / (group.version == 2 ? "memory.max" : "memory.limit_in_bytes"));
    if (!limit || *limit < 0 || *limit >= unlimited_bytes) continue;
    smallest = std::min(smallest.value_or(static_cast<std::uint64_t>(*limit)), static_cast<std::uint64_t>(*limit));
  }
  return smallest;
}

HugePageFacts huge_page_facts() {
  const std::filesystem::path directory = "/sys/kernel/mm/transparent_hugepage";
  HugePageFacts facts;
  facts.transparent = bracketed_word(read_first_line(directory / "enabled").value_or(""));
  facts.huge_page_bytes = read_size(directory / "hpage_pmd_size");
  facts.page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return facts;
}

}  // namespace attn
