// What the program's subcommands and options are, read from the parser's own objects: the man page and the completions of shells are
// written from this, so that no second table of options can grow old.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attn {

// What a value is, told by the option's type name: FILE, FILE[,FILE...], DIR or FOLDER, COMMAND, one of a|b|c, several of a|b|c,...
enum class ValueKind { none, other, file, file_list, folder, command, choice, choice_list };

struct OptionFacts {
  std::vector<std::string> names;  // "-h", "--help"; the one name of a positional
  std::string description;
  ValueKind kind = ValueKind::none;  // none: a flag
  std::string value_name;            // "SIZES"
  std::string default_value;
  std::vector<std::string> choices;
  bool required = false;
  bool repeatable = false;
};

struct CommandFacts {
  std::string name;
  std::vector<std::string> aliases;
  std::string summary;
  std::vector<OptionFacts> positionals;
  std::vector<OptionFacts> options;
  std::string notes;  // what --help says below the options
};

// The program itself, then its subcommands, in the order of --help; hidden options are left out.
struct ProgramFacts {
  CommandFacts program;
  std::vector<CommandFacts> commands;
};

ProgramFacts facts_of(const CLI::App& app);

// All names and aliases of the subcommands.
std::vector<std::string> command_names(const ProgramFacts& facts);

// The text with every `from` replaced.
std::string replace_all(std::string text, const std::string& from, const std::string& to);

}  // namespace attn
