// What errors say of the tensors inside a file, and of text found in one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// The name of a tensor inside a file; nothing where the user named none, which is enough when the file holds exactly one.
using MemberName = std::optional<std::string>;

// Throws FileError "<file>: member: expected one of 'q', 'k', 'v', found 'x'".
[[noreturn]] void fail_member(const std::string& file, const MemberName& wanted, const std::vector<std::string>& names);

// One line: what cannot be printed as \xNN, cut where it is long.
std::string printable(std::string_view text);

}  // namespace attn
