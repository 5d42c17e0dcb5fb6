// Small files of data/ that are compiled into the program, so that it runs from any directory.
#pragma once

#include <string_view>

namespace attn {

// The bytes of data/<name>. Throws std::out_of_range for a name that is not built in (see CMakeLists.txt beside this file).
std::string_view embedded_file(std::string_view name);

}  // namespace attn
