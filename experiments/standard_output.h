// Writing to stdout so that no failure goes unseen.
#pragma once

#include <string_view>

namespace attn {

// Writes and flushes. Throws FileError where stdout cannot take it (a full disk). A closed pipe ends the process as other tools end:
// by SIGPIPE, without a word.
void write_stdout(std::string_view text);

}  // namespace attn
