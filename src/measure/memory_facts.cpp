// Memory's part of machine_facts().
#include <sys/resource.h>
#include <unistd.h>

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
std::optional<std::uint64_t> meminfo_bytes(const std::string& meminfo, const std::string& key) {
  const auto values = values_of(meminfo, key);
  if (values.empty()) return std::nullopt;
  return std::stoull(values.front()) << 10;
}

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
  const std::string meminfo = read_text("/proc/meminfo").value_or("");
  facts.total_bytes = meminfo_bytes(meminfo, "MemTotal");
  facts.available_bytes = meminfo_bytes(meminfo, "MemAvailable");
#endif
  facts.rlimit_address_space_bytes = soft_limit(RLIMIT_AS);
  facts.rlimit_data_bytes = soft_limit(RLIMIT_DATA);
  return facts;
}

HugePageFacts huge_page_facts() {
  const std::filesystem::path directory = "/sys/kernel/mm/transparent_hugepage";
  HugePageFacts facts;
  facts.transparent = bracketed_word(read_line(directory / "enabled").value_or(""));
  facts.huge_page_bytes = read_number(directory / "hpage_pmd_size");
  facts.page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return facts;
}

}  // namespace attn
