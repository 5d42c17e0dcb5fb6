// Lists on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

// The pieces of "a,b,c"; one empty piece of "". Whoever takes the pieces refuses empty ones.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace attn
