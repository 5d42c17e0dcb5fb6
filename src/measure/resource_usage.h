// What this process has used so far, and what others have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace attn {

struct ResourceUsage {
  std::optional<std::uint64_t> peak_bytes;  // the most memory that was ever resident (VmHWM, or ru_maxrss)
  double cpu_s = 0;                         // user and system time of all threads, since the start
};

ResourceUsage resource_usage();

// CPU seconds since the start of the machine that went to others: every processor's time that was neither idle nor used by this process,
// stolen time (of a virtual machine whose host ran something else) included. Differences over half a second or more have a meaning; the
// kernel counts in hundredths. Empty where the system does not tell. `root` stands for "/".
std::optional<double> others_cpu_s(const std::filesystem::path& root = "/");

// Processors that others kept busy on average over `elapsed_s`, from others_cpu_s before and after. Empty where one of them is, and below
// half a second: 50 ticks of the kernel's count, 2 % of a processor.
std::optional<double> average_load(std::optional<double> before_s, std::optional<double> after_s, double elapsed_s);

// The same from its construction on.
class LoadByOthers {
 public:
  LoadByOthers();

  // From an earlier moment on: what steady_now_ns and others_cpu_s said then.
  LoadByOthers(std::int64_t start_ns, std::optional<double> others_before_s) : start_ns_(start_ns), before_s_(others_before_s) {}

  std::optional<double> average_cores() const;

 private:
  std::int64_t start_ns_;
  std::optional<double> before_s_;
};

}  // namespace attn
