// The known name that a mistyped one most probably means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Edit distance of Damerau and Levenshtein with adjacent transpositions ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name nearest to `typed`, or "" where none is within a third of its length (at least 2 edits, or a shared beginning).
std::string nearest_name(std::string_view typed, const std::vector<std::string>& names);

}  // namespace attn
