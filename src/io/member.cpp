#include "io/member.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/error.h"

namespace attn {
namespace {

// "'q', 'k', 'v'", cut after some names; "nothing" where there are none.
std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += fmt::format("{}'{}'", i > 0 ? ", " : "", printable(names[i]));
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return names.empty() ? "nothing" : text;
}

}  // namespace

void fail_member(const std::string& file, const MemberName& wanted, const std::vector<std::string>& names) {
  if (wanted) throw FileError(fmt::format("{}: member: expected '{}', found {}", file, printable(*wanted), list(names)));
  throw FileError(fmt::format("{}: member: expected one tensor or its name behind '#', found {}", file, list(names)));
}

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string result;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return result + (text.size() > longest ? "..." : "");
}

}  // namespace attn
