// Completion of the command line in bash.
#pragma once

#include <string>

#include "help/command_line.h"

namespace attn {

// A script that defines and registers the function _<program>; it needs nothing but bash 4.
std::string bash_completion(const ProgramFacts& facts);

}  // namespace attn
