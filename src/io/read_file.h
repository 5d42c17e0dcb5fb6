// A whole file in memory.
#pragma once

#include <string>

namespace attn {

// All bytes of a file (a pipe or a device too). Throws FileError "<path>: open: <the system's reason>" (or read).
std::string read_file(const std::string& path);

}  // namespace attn
