#include "machine/threads.h"

#include <sched.h>

#include "catch.h"
#include "machine/error.h"
#include "support/temporary_folder.h"

using namespace attn;

TEST_CASE("the default is what the affinity gives") {
  TemporaryFolder root;  // no cgroup files
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(default_threads(root.path()) == CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(default_threads(root.path()) == 1);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("a quota of an ancestor bounds the default, and never below one") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  const int cores = default_threads(root.path());
  root.write("sys/fs/cgroup/a/cpu.max", "199000 100000\n");
  CHECK(default_threads(root.path()) == 1);
  root.write("sys/fs/cgroup/a/cpu.max", "20000 100000\n");
  CHECK(default_threads(root.path()) == 1);
  root.write("sys/fs/cgroup/a/cpu.max", "999900000 100000\n");
  CHECK(default_threads(root.path()) == cores);
}

TEST_CASE("version 1's quota bounds the default, -1 does not") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  root.write("proc/self/cgroup", "1:cpu:/job\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  const int cores = default_threads(root.path());
  CHECK(cores >= 1);
  root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  CHECK(default_threads(root.path()) == 1);
}

TEST_CASE("the number can be set, but not to nonsense") {
  const int before = threads();
  CHECK(before >= 1);
  set_threads(3);
  CHECK(threads() == 3);
  for (const int nonsense : {0, -1, 1000000}) CHECK_THROWS_AS(set_threads(nonsense), UsageError);
  CHECK(threads() == 3);
  set_threads(before);
}
