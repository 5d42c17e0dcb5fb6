#include "machine/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "catch.h"
#include "machine/cgroup.h"
#include "machine/error.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

// Free bytes by the limit of that name, the least where there are several; -1 if there is none.
double free_bytes(const std::vector<MemoryLimit>& limits, const std::string& name) {
  double least = -1;
  for (const MemoryLimit& limit : limits) {
    const auto bytes = static_cast<double>(limit.free_bytes);
    if (limit.name == name) least = least < 0 ? bytes : std::min(least, bytes);
  }
  return least;
}

}  // namespace

TEST_CASE("the system's available memory is a limit") {
  TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:       24683520 kB\nMemFree:  1 kB\nMemAvailable:    2000 kB\n");
  CHECK(free_bytes(memory_limits(root.path()), "available memory") == 2048000.0);
}

TEST_CASE("a cgroup's limit counts less its use, without file pages that can be dropped") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  CHECK(free_bytes(memory_limits(root.path()), "cgroup memory limit") == -1.0);
  root.write("sys/fs/cgroup/a/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/a/memory.current", "700000\n");
  root.write("sys/fs/cgroup/a/memory.stat", "anon 500000\ninactive_file 100000\nactive_file 100000\n");
  CHECK(free_bytes(memory_limits(root.path()), "cgroup memory limit") == 400000.0);
  root.write("sys/fs/cgroup/a/memory.current", "2000000\n");
  CHECK(free_bytes(memory_limits(root.path()), "cgroup memory limit") == 0.0);
}

TEST_CASE("version 1 too") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  root.write("proc/self/cgroup", "4:memory:/job\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  root.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "4000\n");
  root.write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  CHECK(free_bytes(memory_limits(root.path()), "cgroup memory limit") == 1500.0);
}

TEST_CASE("the process's own limits count less what it uses") {
  struct Case {
    decltype(RLIMIT_AS) resource;
    const char* field;
    const char* name;
  };
  for (const Case& c : {Case{RLIMIT_AS, "VmSize", "address space limit"}, Case{RLIMIT_DATA, "VmData", "data limit"}}) {
    rlimit before{};
    REQUIRE(getrlimit(c.resource, &before) == 0);
    const auto used = static_cast<double>(read_field("/proc/self/status", c.field).value()) * 1024;
    constexpr double room = 1 << 30;
    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(used + room);
    REQUIRE(setrlimit(c.resource, &tight) == 0);
    const double found = free_bytes(memory_limits(), c.name);
    const auto least = static_cast<double>(available_memory().free_bytes);
    REQUIRE(setrlimit(c.resource, &before) == 0);
    INFO(c.name);
    CHECK(found <= room);
    CHECK(found > room - (64 << 20));
    CHECK(least <= room);
  }
}

TEST_CASE("more than there is is refused, with what is needed, what there is, and what limits it") {
  CHECK_NOTHROW(require_memory(0, "scores"));
  CHECK_NOTHROW(require_memory(1 << 20, "scores"));
  try {
    require_memory(std::uint64_t{1} << 60, "scores");
    FAIL("no error");
  } catch (const MemoryError& error) {
    const std::string message = error.what();
    CHECK(message.rfind("scores: memory: expected 1.2 EB available, found ", 0) == 0);
    CHECK(message.find('(' + available_memory().name + ')') != std::string::npos);
  }
}

TEST_CASE("bytes are written in decimal units") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(134217728) == "134.2 MB");
  CHECK(format_bytes(999960) == "1.0 MB");
  CHECK(format_bytes(17179869184) == "17.2 GB");
}
