// What the machine is, as the context of every result: the names are Google Benchmark's where it has one.
// A fact that cannot be seen is empty; nothing is guessed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attn {

struct CacheFacts {
  std::string type;  // Data, Instruction or Unified
  int level = 0;
  std::uint64_t size_bytes = 0;
  int num_sharing = 0;  // how many logical CPUs share one such cache
};

struct MemoryFacts {
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> available_bytes;             // without swapping, as the kernel estimates it
  std::optional<std::uint64_t> cgroup_limit_bytes;          // the smallest limit on the path to the root; empty if none is set
  std::optional<std::uint64_t> rlimit_address_space_bytes;  // RLIMIT_AS; empty if unlimited
  std::optional<std::uint64_t> rlimit_data_bytes;           // RLIMIT_DATA; empty if unlimited
};

struct HugePageFacts {
  std::optional<std::string> transparent;        // always, madvise or never
  std::optional<std::uint64_t> huge_page_bytes;  // of a transparent huge page
  std::uint64_t page_bytes = 0;                  // of an ordinary page
};

struct MachineFacts {
  std::string host_name;
  std::optional<std::string> cpu_model;
  int num_cpus = 0;                         // logical CPUs that are on line
  std::optional<double> mhz_per_cpu;        // the highest frequency the system names, else the present one
  std::optional<bool> cpu_scaling_enabled;  // a frequency governor other than "performance" is at work
  std::vector<CacheFacts> caches;           // of CPU 0, nearest first
  MemoryFacts memory;
  HugePageFacts huge_pages;
};

// What is true of this moment and this run.
struct RunFacts {
  std::string date;  // ISO 8601 with the offset from UTC: 2024-05-01T12:00:00+02:00
  std::string executable;
  std::vector<std::string> argv;
  std::vector<double> load_avg;          // over 1, 5 and 15 minutes; empty where the system does not tell
  std::string isa;                       // the target that the kernels really run
  std::vector<std::string> isa_targets;  // those that they could run, best first
  int threads = 0;                       // that the library computes with
  std::int64_t timer_resolution_ns = 0;  // measured
};

// The machine that this process runs on.
MachineFacts machine_facts();

// `argv` as main() has it, with argc entries; argv[0] becomes `executable`.
RunFacts run_facts(int argc, const char* const* argv);

// The parts of machine_facts(). Those that read files take the folder or text, so that they can be tried on a made-up machine.

// The caches listed below /sys/devices/system/cpu on Linux.
std::vector<CacheFacts> caches_below(const std::filesystem::path& cpu_directory);
// Whether any CPU below /sys/devices/system/cpu has a governor other than "performance"; empty where there are no governors to see.
std::optional<bool> frequency_scaling_below(const std::filesystem::path& cpu_directory);
// The highest of the present frequencies in the text of /proc/cpuinfo.
std::optional<double> mhz_in_cpuinfo(const std::string& cpuinfo);
std::optional<std::string> model_in_cpuinfo(const std::string& cpuinfo);
// "always [madvise] never" -> "madvise"
std::optional<std::string> bracketed_word(const std::string& line);

// Fills cpu_model, num_cpus, mhz_per_cpu, cpu_scaling_enabled and caches.
void add_cpu_facts(MachineFacts& facts);
MemoryFacts memory_facts();
// The smallest memory limit of this process's control groups; `root` stands for "/".
std::optional<std::uint64_t> cgroup_memory_limit(const std::filesystem::path& root = "/");
HugePageFacts huge_page_facts();

}  // namespace attn
