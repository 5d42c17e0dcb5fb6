#include "machine/cgroup.h"

#include <string>

#include "catch.h"
#include "support/temporary_folder.h"

using namespace attn;

TEST_CASE("version 2: the process's group and all above it, up to the mount point") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo",
             "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  root.write("proc/self/cgroup", "0::/user.slice/session.scope\n");
  const auto groups = cgroup_directories("memory", root.path());
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].path == root.path() / "sys/fs/cgroup/user.slice/session.scope");
  CHECK(groups[1].path == root.path() / "sys/fs/cgroup/user.slice");
  CHECK(groups[2].path == root.path() / "sys/fs/cgroup");
  CHECK(groups[0].version == 2);
}

TEST_CASE("version 1: the hierarchy of the controller, by its own name or in a list") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo",
             "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  root.write("proc/self/cgroup", "4:memory:/batch/job7\n2:cpuacct,cpu:/quiet\n");
  const auto memory = cgroup_directories("memory", root.path());
  REQUIRE(memory.size() == 3);
  CHECK(memory[0].path == root.path() / "sys/fs/cgroup/memory/batch/job7");
  CHECK(memory[0].version == 1);
  const auto cpu = cgroup_directories("cpu", root.path());
  REQUIRE(cpu.size() == 2);
  CHECK(cpu[0].path == root.path() / "sys/fs/cgroup/cpu,cpuacct/quiet");
  CHECK(cgroup_directories("cpuset", root.path()).empty());
}

TEST_CASE("a container sees its part of the hierarchy only") {
  TemporaryFolder root;
  root.write("proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  root.write("proc/self/cgroup", "4:memory:/docker/abc\n");
  auto groups = cgroup_directories("memory", root.path());
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].path == root.path() / "sys/fs/cgroup/memory");
  root.write("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  groups = cgroup_directories("memory", root.path());
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].path == root.path() / "sys/fs/cgroup/memory/inner");
  root.write("proc/self/cgroup", "4:memory:/elsewhere\n");
  groups = cgroup_directories("memory", root.path());
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].path == root.path() / "sys/fs/cgroup/memory");
}

TEST_CASE("no control groups: no directories") {
  TemporaryFolder root;
  CHECK(cgroup_directories("memory", root.path()).empty());
}

TEST_CASE("numbers and fields of files") {
  TemporaryFolder root;
  root.write("number", "8589934592\n");
  root.write("max", "max\n");
  root.write("huge", "99999999999999999999\n");
  root.write("fields", "Name:\tx\nVmData:\t  123 kB\ninactive_file 77\n");
  CHECK(read_number(root.path() / "number") == 8589934592);
  CHECK_FALSE(read_number(root.path() / "max").has_value());
  CHECK_FALSE(read_number(root.path() / "huge").has_value());
  CHECK_FALSE(read_number(root.path() / "absent").has_value());
  CHECK(read_field(root.path() / "fields", "VmData") == 123);
  CHECK(read_field(root.path() / "fields", "inactive_file") == 77);
  CHECK_FALSE(read_field(root.path() / "fields", "inactive").has_value());
}
