// The man page, in roff with the macros of man(7).
#pragma once

#include <string>

#include "help/command_line.h"

namespace attn {

// Options that all subcommands have are described once.
std::string man_page(const ProgramFacts& facts, const std::string& version);

}  // namespace attn
