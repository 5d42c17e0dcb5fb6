// The program: from the command line to what is printed.
#pragma once

namespace attn {

// Runs the subcommand that `argv` names. Prints its result on stdout, writes --out, compares with --expect. Returns the exit code 0 or 1.
// Throws UsageError, FileError, MemoryError; main() turns them into a line on stderr and an exit code.
int run_program(int argc, char* argv[]);

}  // namespace attn
