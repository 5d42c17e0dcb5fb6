#include "measure/system_files.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "machine/cgroup.h"

namespace attn {

std::string trimmed(const std::string& text) {
  const char* white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::optional<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

std::optional<std::uint64_t> read_size(const std::filesystem::path& path) {
  const auto first = read_first_line(path);
  if (!first) return std::nullopt;
  const std::string line = trimmed(*first);
  std::uint64_t number = 0;
  const char* end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  if (rest == end) return number;
  if (rest + 1 != end) return std::nullopt;
  switch (*rest) {
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    case 'G':
      return number << 30;
    default:
      return std::nullopt;
  }
}

std::vector<std::string> values_of(const std::string& text, const std::string& key) {
  std::vector<std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) values.push_back(trimmed(line.substr(colon + 1)));
  }
  return values;
}

}  // namespace attn
