// Small text files through which Linux tells of the machine (/proc, /sys). Where there is none, the answer is empty: no guess.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attn {

// The whole text of a file; empty if it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path);

// Its first line as a size, which may end in K, M or G (2^10, 2^20, 2^30).
std::optional<std::uint64_t> read_size(const std::filesystem::path& path);

// The values of all lines "key : value" of a text, in their order. The colon may stand anywhere after the key.
std::vector<std::string> values_of(const std::string& text, const std::string& key);

// `text` without the white space around it.
std::string trimmed(const std::string& text);

}  // namespace attn
