#include "machine/cgroup.h"

#include <charconv>
#include <fstream>
#include <sstream>

namespace attn {
namespace {

namespace fs = std::filesystem;

bool in_comma_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

// A mounted hierarchy: `subtree` of it (a container sees only its own part) is visible at `mount_point`.
struct Mount {
  std::string subtree;
  std::string mount_point;
};

// The mount of the version-2 hierarchy, or of the version-1 hierarchy of `controller`. Lines of mountinfo:
// "id parent dev subtree mount_point options [fields] - type source super_options".
std::optional<Mount> find_mount(const fs::path& root, int version, std::string_view controller) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream left(line.substr(0, separator));
    std::istringstream right(line.substr(separator + 3));
    std::string skipped;
    std::string type;
    std::string super_options;
    Mount mount;
    left >> skipped >> skipped >> skipped >> mount.subtree >> mount.mount_point;
    right >> type >> skipped >> super_options;
    const bool wanted = version == 2 ? type == "cgroup2" : type == "cgroup" && in_comma_list(super_options, controller);
    if (wanted) return mount;
  }
  return std::nullopt;
}

// This process's path within a hierarchy. Lines of /proc/self/cgroup: "0::/path" for version 2, "id:controllers:/path" for version 1.
std::optional<std::string> find_group(const fs::path& root, int version, std::string_view controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : in_comma_list(controllers, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

void append_directories(std::vector<CgroupDirectory>& result, const fs::path& root, int version, std::string_view controller) {
  const auto mount = find_mount(root, version, controller);
  const auto group = find_group(root, version, controller);
  if (!mount || !group) return;
  const fs::path mount_point = root / fs::path(mount->mount_point).relative_path();
  fs::path below = fs::path(*group).lexically_relative(mount->subtree);
  // A group outside of the visible part (as after a container engine's move): the mount point is all that can be seen.
  if (below.empty() || *below.begin() == "..") below = ".";
  for (fs::path group_path = below; !group_path.empty() && group_path != "."; group_path = group_path.parent_path()) {
    result.push_back({mount_point / group_path, version});
  }
  result.push_back({mount_point, version});
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::nullopt;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<CgroupDirectory> cgroup_directories(std::string_view controller, const fs::path& root) {
  std::vector<CgroupDirectory> result;
  append_directories(result, root, 2, controller);
  append_directories(result, root, 1, controller);
  return result;
}

std::optional<std::string> read_first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  return std::getline(stream, line) ? std::optional(line) : std::nullopt;
}

std::optional<std::int64_t> read_number(const fs::path& file) {
  const auto line = read_first_line(file);
  return line ? parse_number(*line) : std::nullopt;
}

std::optional<std::int64_t> read_field(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    std::string value;
    words >> name >> value;
    if (!name.empty() && name.back() == ':') name.pop_back();
    if (name == key) return parse_number(value);
  }
  return std::nullopt;
}

}  // namespace attn
