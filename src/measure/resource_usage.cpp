#include "measure/resource_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "machine/cgroup.h"
#include "measure/clock.h"

namespace attn {
namespace {

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

std::optional<std::uint64_t> peak_resident_bytes(const rusage& usage) {
  if (const auto kib = read_field("/proc/self/status", "VmHWM")) return static_cast<std::uint64_t>(*kib) << 10;
  if (usage.ru_maxrss <= 0) return std::nullopt;
#ifdef __APPLE__
  return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
#endif
}

}  // namespace

ResourceUsage resource_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {peak_resident_bytes(usage), seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

std::optional<double> others_cpu_s(const std::filesystem::path& root) {
  // man 5 proc: "cpu user nice system idle iowait irq softirq steal guest guest_nice", the last two counted in the first two already.
  const auto line = read_first_line(root / "proc/stat");
  if (!line) return std::nullopt;
  std::istringstream words(*line);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(words >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) || name != "cpu") return std::nullopt;
  const double busy = user + nice + system + irq + softirq + steal;
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK)) - resource_usage().cpu_s;
}

std::optional<double> average_load(std::optional<double> before_s, std::optional<double> after_s, double elapsed_s) {
  constexpr double shortest_s = 0.5;
  if (!before_s || !after_s || elapsed_s < shortest_s) return std::nullopt;
  return std::max(0.0, (*after_s - *before_s) / elapsed_s);
}

LoadByOthers::LoadByOthers() : LoadByOthers(steady_now_ns(), others_cpu_s()) {}

std::optional<double> LoadByOthers::average_cores() const {
  return average_load(before_s_, others_cpu_s(), 1e-9 * static_cast<double>(steady_now_ns() - start_ns_));
}

}  // namespace attn
