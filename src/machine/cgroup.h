// The control groups (cgroups, versions 1 and 2) that bind this process: where their files lie and what they say.
//
// man 7 cgroups; Linux kernel, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct CgroupDirectory {
  std::filesystem::path path;
  int version;  // 1 or 2: the files have other names
};

// The directories whose limits on `controller` ("cpu", "memory") this process is under, its own first, then each ancestor up to the mount
// point (a limit binds all below it). Empty where there are no control groups. `root` stands for "/", so that a test can lay out its own.
std::vector<CgroupDirectory> cgroup_directories(std::string_view controller, const std::filesystem::path& root = "/");

// First line of a file; nothing if it cannot be read.
std::optional<std::string> read_first_line(const std::filesystem::path& file);

// Number at the start of a file; nothing if it cannot be read or does not begin with one ("max": no limit).
std::optional<std::int64_t> read_number(const std::filesystem::path& file);

// Number behind the word `key` in a file of lines "key number" or "key: number unit"; nothing if there is none.
std::optional<std::int64_t> read_field(const std::filesystem::path& file, std::string_view key);

}  // namespace attn
