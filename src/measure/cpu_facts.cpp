// The processor's part of machine_facts().
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "machine/cgroup.h"
#include "measure/machine_facts.h"
#include "measure/system_files.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace attn {
namespace {

// The number of CPUs in a list such as "0-3,8-11".
int count_cpus(const std::string& list) {
  int count = 0;
  const char* at = list.c_str();
  while (std::isdigit(static_cast<unsigned char>(*at))) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    count += static_cast<int>(last - first + 1);
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

std::optional<double> as_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<CacheFacts> caches_below(const std::filesystem::path& cpu_directory) {
  std::vector<CacheFacts> caches;
  for (int index = 0;; ++index) {
    const auto directory = cpu_directory / "cpu0" / "cache" / ("index" + std::to_string(index));
    const auto type = read_first_line(directory / "type");
    const auto level = read_number(directory / "level");
    const auto size = read_size(directory / "size");
    const auto shared = read_first_line(directory / "shared_cpu_list");
    if (!type || !level || !size || !shared) return caches;
    caches.push_back({*type, static_cast<int>(*level), *size, count_cpus(*shared)});
  }
}

std::optional<bool> frequency_scaling_below(const std::filesystem::path& cpu_directory) {
  std::optional<bool> enabled;
  for (int cpu = 0; std::filesystem::exists(cpu_directory / ("cpu" + std::to_string(cpu))); ++cpu) {
    const auto governor = read_first_line(cpu_directory / ("cpu" + std::to_string(cpu)) / "cpufreq" / "scaling_governor");
    if (governor) enabled = enabled.value_or(false) || *governor != "performance";
  }
  return enabled;
}

std::optional<double> mhz_in_cpuinfo(const std::string& cpuinfo) {
  std::optional<double> highest;
  for (const std::string& value : values_of(cpuinfo, "cpu MHz")) {
    if (const auto mhz = as_number(value)) highest = std::max(highest.value_or(0.0), *mhz);
  }
  return highest;
}

std::optional<std::string> model_in_cpuinfo(const std::string& cpuinfo) {
  const auto models = values_of(cpuinfo, "model name");
  if (models.empty()) return std::nullopt;
  return models.front();
}

#ifdef __APPLE__

namespace {

std::optional<std::uint64_t> sysctl_number(const char* name) {
  std::uint64_t number = 0;
  std::size_t size = sizeof(number);
  if (sysctlbyname(name, &number, &size, nullptr, 0) != 0) return std::nullopt;
  return number;  // a 32-bit answer fills the low half, the rest stays zero
}

void add_cache(std::vector<CacheFacts>& caches, const char* type, int level, const char* name) {
  std::uint64_t sharing[8] = {};  // [0] is memory, [level] the cache
  std::size_t size = sizeof(sharing);
  const auto bytes = sysctl_number(name);
  if (!bytes || *bytes == 0 || sysctlbyname("hw.cacheconfig", sharing, &size, nullptr, 0) != 0) return;
  caches.push_back({type, level, *bytes, static_cast<int>(sharing[level])});
}

}  // namespace

void add_cpu_facts(MachineFacts& facts) {
  char model[256] = {};
  std::size_t size = sizeof(model) - 1;
  if (sysctlbyname("machdep.cpu.brand_string", model, &size, nullptr, 0) == 0) facts.cpu_model = model;
  facts.num_cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (const auto hz = sysctl_number("hw.cpufrequency_max")) facts.mhz_per_cpu = static_cast<double>(*hz) / 1e6;
  add_cache(facts.caches, "Data", 1, "hw.l1dcachesize");
  add_cache(facts.caches, "Instruction", 1, "hw.l1icachesize");
  add_cache(facts.caches, "Unified", 2, "hw.l2cachesize");
  add_cache(facts.caches, "Unified", 3, "hw.l3cachesize");
}

#else

void add_cpu_facts(MachineFacts& facts) {
  const std::filesystem::path cpu_directory = "/sys/devices/system/cpu";
  const std::string cpuinfo = read_text("/proc/cpuinfo").value_or("");
  facts.cpu_model = model_in_cpuinfo(cpuinfo);
  facts.num_cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const auto highest_khz = read_number(cpu_directory / "cpu0" / "cpufreq" / "cpuinfo_max_freq");
  facts.mhz_per_cpu = highest_khz ? std::optional(static_cast<double>(*highest_khz) / 1e3) : mhz_in_cpuinfo(cpuinfo);
  facts.cpu_scaling_enabled = frequency_scaling_below(cpu_directory);
  facts.caches = caches_below(cpu_directory);
}

#endif

}  // namespace attn
