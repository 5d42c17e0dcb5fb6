// `attn help`: the options of a subcommand, and the man page and the completions of shells, which the build has written by it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace attn {

class HelpCommand {
 public:
  // Adds the subcommand to the program, whose other subcommands may be added later.
  explicit HelpCommand(CLI::App& app);

  // After parsing: the text that was asked for, if any. Throws UsageError for a subcommand or a shell that is not known.
  std::optional<std::string> text() const;

 private:
  std::string help_text() const;

  CLI::App& app_;
  CLI::App* help_ = nullptr;
  std::string command_;
  bool man_ = false;
  std::string shell_;
};

// What --version prints: version and git revision, compiler and build type, instruction sets.
std::string version_text();

}  // namespace attn
