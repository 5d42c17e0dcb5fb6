// Facts of machine, build and run: against made-up machines, and against what the C library says of this one.
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"
#include "machine/error.h"
#include "machine/isa_targets.h"
#include "measure/build_facts.h"
#include "measure/clock.h"
#include "measure/machine_facts.h"
#include "measure/system_files.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// The text with 0 for every digit and + for either sign of an offset.
std::string shape_of(std::string text) {
  for (char& letter : text) {
    if (std::isdigit(static_cast<unsigned char>(letter))) letter = '0';
  }
  if (text.size() > 6 && text[text.size() - 6] == '-') text[text.size() - 6] = '+';
  return text;
}

}  // namespace

TEST_CASE("caches are read as the kernel lists them") {
  const TemporaryFolder cpus;
  const auto cache = cpus.path() / "cpu0" / "cache";
  const auto add = [&](const std::string& index, const std::string& type, const std::string& level, const std::string& size,
                       const std::string& shared) {
    write(cache / index / "type", type + "\n");
    write(cache / index / "level", level + "\n");
    write(cache / index / "size", size + "\n");
    write(cache / index / "shared_cpu_list", shared + "\n");
  };
  add("index0", "Data", "1", "48K", "0,64");
  add("index1", "Instruction", "1", "32K", "0");
  add("index2", "Unified", "3", "32M", "0-7,64-71");

  const auto caches = caches_below(cpus.path());
  REQUIRE(caches.size() == 3);
  CHECK(caches[0].type == "Data");
  CHECK(caches[0].size_bytes == 48 * 1024);
  CHECK(caches[0].num_sharing == 2);
  CHECK(caches[1].num_sharing == 1);
  CHECK(caches[2].level == 3);
  CHECK(caches[2].size_bytes == 32u * 1024 * 1024);
  CHECK(caches[2].num_sharing == 16);
  CHECK(caches_below("/nowhere").empty());
}

TEST_CASE("frequency scaling is known only where a governor can be seen") {
  const TemporaryFolder cpus;
  std::filesystem::create_directories(cpus.path() / "cpu0");
  CHECK_FALSE(frequency_scaling_below(cpus.path()).has_value());
  write(cpus.path() / "cpu0" / "cpufreq" / "scaling_governor", "performance\n");
  CHECK(frequency_scaling_below(cpus.path()) == false);
  write(cpus.path() / "cpu1" / "cpufreq" / "scaling_governor", "powersave\n");
  CHECK(frequency_scaling_below(cpus.path()) == true);
}

TEST_CASE("the processor's name and highest frequency come from cpuinfo") {
  const std::string cpuinfo =
      "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\ncpu MHz\t\t: 1999.5\n\nprocessor\t: 1\ncpu MHz\t\t: 3100.25\n";
  CHECK(model_in_cpuinfo(cpuinfo) == "Some CPU @ 2.00GHz");
  CHECK(mhz_in_cpuinfo(cpuinfo) == 3100.25);
  CHECK_FALSE(model_in_cpuinfo("processor : 0\n").has_value());
  CHECK_FALSE(mhz_in_cpuinfo("cpu MHz : unknown\n").has_value());
}

TEST_CASE("the word in brackets is the setting in force") {
  CHECK(bracketed_word("always [madvise] never") == "madvise");
  CHECK(bracketed_word("[always] madvise never") == "always");
  CHECK_FALSE(bracketed_word("always madvise never").has_value());
  CHECK_FALSE(bracketed_word("").has_value());
}

TEST_CASE("the smallest memory limit on the way to the root binds") {
  const TemporaryFolder root;
  write(root.path() / "proc/self/cgroup", "0::/jobs/mine\n");
  write(root.path() / "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  write(root.path() / "sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  CHECK_FALSE(cgroup_memory_limit(root.path()).has_value());
  write(root.path() / "sys/fs/cgroup/jobs/memory.max", "1073741824\n");
  CHECK(cgroup_memory_limit(root.path()) == std::uint64_t{1} << 30);
  write(root.path() / "sys/fs/cgroup/jobs/mine/memory.max", "1048576\n");
  CHECK(cgroup_memory_limit(root.path()) == std::uint64_t{1} << 20);
}

TEST_CASE("numbers in system files are read whole or not at all") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    write(folder.path() / "number", text);
    return read_size(folder.path() / "number");
  };
  CHECK(read("266240K\n") == 266240u * 1024);
  CHECK(read(" 7 \n") == 7u);
  CHECK(read("2G") == std::uint64_t{2} << 30);
  CHECK_FALSE(read("max\n").has_value());
  CHECK_FALSE(read("12abc\n").has_value());
  CHECK_FALSE(read("").has_value());
  CHECK_FALSE(read_size(folder.path() / "missing").has_value());
}

TEST_CASE("this machine is described as the C library sees it") {
  const MachineFacts facts = machine_facts();
  CHECK(facts.num_cpus == sysconf(_SC_NPROCESSORS_ONLN));
  CHECK(facts.huge_pages.page_bytes == static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  CHECK_FALSE(facts.host_name.empty());
#ifdef __linux__
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  CHECK(facts.memory.total_bytes == pages * facts.huge_pages.page_bytes);
  REQUIRE(facts.memory.available_bytes.has_value());
  CHECK(*facts.memory.available_bytes <= *facts.memory.total_bytes);
#endif
  for (const CacheFacts& cache : facts.caches) CHECK(cache.size_bytes > 0);
}

TEST_CASE("a run knows its arguments and its date with the offset from UTC") {
  const char* argv[] = {"attn", "demo", "--seed=7"};
  const RunFacts facts = run_facts(3, argv);
  CHECK(facts.executable == "attn");
  CHECK(facts.argv == std::vector<std::string>{"attn", "demo", "--seed=7"});
  CHECK(shape_of(facts.date) == "0000-00-00T00:00:00+00:00");
  CHECK(facts.load_avg.size() == 3);
  CHECK(facts.isa == active_target());
  CHECK(facts.threads >= 1);
  CHECK(facts.isa_targets == available_targets());
  CHECK(facts.timer_resolution_ns > 0);
}

TEST_CASE("the build names its compiler, its flags and, from a repository, its revision") {
  const BuildFacts facts = build_facts();
#if defined(__clang__)
  CHECK(facts.compiler.find("Clang") != std::string::npos);
#elif defined(__GNUC__)
  CHECK(facts.compiler ==
        "GNU " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." + std::to_string(__GNUC_PATCHLEVEL__));
#endif
  CHECK(facts.compiler_flags.find("-ffp-contract=off") != std::string::npos);
  CHECK(facts.compiler_flags.find("-W") == std::string::npos);
  CHECK_FALSE(facts.attn_version.empty());
  CHECK(facts.git_sha.has_value() == facts.git_dirty.has_value());
  if (facts.git_sha) CHECK(facts.git_sha->find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("the clock's resolution is its smallest step") {
  std::int64_t now = 0;
  int readings = 0;
  const auto coarse = [&] {  // ticks of 250 ns, each seen three times; now and then two ticks at once
    if (++readings % 3 == 0) now += readings % 30 == 0 ? 500 : 250;
    return now;
  };
  CHECK(clock_resolution_ns(coarse) == 250);
  CHECK_THROWS_AS(clock_resolution_ns([] { return std::int64_t{5}; }), Error);
  CHECK(clock_resolution_ns() > 0);
  const std::int64_t before = steady_now_ns();
  CHECK(before <= steady_now_ns());
}
