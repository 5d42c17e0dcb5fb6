// Completion of the command line in zsh.
#pragma once

#include <string>

#include "help/command_line.h"

namespace attn {

// The file _<program> for a folder of $fpath, written with zsh's _arguments.
std::string zsh_completion(const ProgramFacts& facts);

}  // namespace attn
