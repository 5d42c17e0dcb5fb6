#include "help/man_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn {
namespace {

// Plain text: a hyphen stays one when it is copied from the page, and no line begins with a command.
std::string escaped(const std::string& text) {
  std::string result = replace_all(replace_all(text, "\\", "\\e"), "-", "\\-");
  if (result.starts_with(".") || result.starts_with("'")) result.insert(0, "\\&");
  return replace_all(result, "\n", "\n\\&");
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

// A long list of choices may be broken behind each of them.
std::string breakable(const std::string& choices) { return replace_all(choices, "|", "|\\:"); }

void add_option(std::string& page, const OptionFacts& option, bool positional) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + (positional ? italic(name) : bold(name));
  if (!option.value_name.empty() && option.value_name != option.names.front()) names += " " + breakable(italic(option.value_name));
  page += ".TP\n" + names + "\n" + escaped(option.description);
  if (!option.default_value.empty()) page += " (default: " + escaped(option.default_value) + ")";
  if (option.repeatable) page += " (may be given several times)";
  page += "\n";
}

bool same_option(const OptionFacts& a, const OptionFacts& b) { return a.names == b.names && a.description == b.description; }

bool has(const CommandFacts& command, const OptionFacts& option) {
  return std::any_of(command.options.begin(), command.options.end(), [&](const OptionFacts& other) { return same_option(option, other); });
}

// `help` runs nothing and does not count.
std::vector<OptionFacts> common_options(const ProgramFacts& facts) {
  std::vector<OptionFacts> common;
  for (const OptionFacts& option : facts.commands.front().options) {
    const bool everywhere = std::all_of(facts.commands.begin(), facts.commands.end(),
                                        [&](const CommandFacts& command) { return command.name == "help" || has(command, option); });
    if (everywhere) common.push_back(option);
  }
  return common;
}

std::string usage(const std::string& program, const CommandFacts& command) {
  std::string line = bold(program + " " + command.name) + " [" + italic("OPTIONS") + "]";
  for (const OptionFacts& positional : command.positionals) {
    line += positional.required ? " " + italic(positional.names.front()) : " [" + italic(positional.names.front()) + "]";
  }
  return line;
}

void add_command(std::string& page, const std::string& program, const CommandFacts& command, const std::vector<OptionFacts>& common) {
  page += ".SS " + usage(program, command) + "\n" + escaped(command.summary) + ".\n";
  for (const std::string& alias : command.aliases) page += "Also called " + bold(alias) + ".\n";
  for (const OptionFacts& option : command.positionals) add_option(page, option, true);
  for (const OptionFacts& option : command.options) {
    const bool help = option.names.back() == "--help";
    const bool shared = std::any_of(common.begin(), common.end(), [&](const OptionFacts& other) { return same_option(option, other); });
    if (!shared && !help) add_option(page, option, false);
  }
  if (!command.notes.empty()) page += ".PP\n" + replace_all(escaped(command.notes), "\n\\&", "\n.br\n\\&") + "\n";
}

// What no option says: how the program ends, what it reads of the environment, how numbers are written.
constexpr const char* closing_sections = R"(.SH NUMBERS
Sizes are numbers, lists and ranges: 4,16,64; 512..4096 doubles; 1..1000x10 is geometric, 10..50+20 arithmetic; 4k is 4096.
Several lists multiply; the first one named varies slowest.
.SH EXIT STATUS
.TP
0
All is well.
.TP
1
A check failed, a row failed or was skipped, or a regression was found.
.TP
2
The command line makes no sense, or what was to be compared cannot be.
.TP
3
A file or memory.
.TP
130, 143
Interrupted, by SIGINT or SIGTERM; finished rows are printed and saved.
.SH ENVIRONMENT
.TP
ATTN_ISA
The instruction set of the kernels, where the option for it is not given.
.TP
NO_COLOR
If it is set and not empty, nothing is coloured unless asked for.
)";

}  // namespace

std::string man_page(const ProgramFacts& facts, const std::string& version) {
  const std::string& program = facts.program.name;
  std::string title = program;
  std::transform(title.begin(), title.end(), title.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  const std::vector<OptionFacts> common = common_options(facts);

  // No adjusting: a line that is one long list of choices has no spaces to widen.
  std::string page = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n.ad l\n", title, program, version);
  page += ".SH NAME\n" + program + " \\- a lab bench for attention\n";
  page += ".SH SYNOPSIS\n" + bold(program) + " " + italic("SUBCOMMAND") + " [" + italic("OPTIONS") + "]\n.br\n";
  page += bold(program + " help") + " [" + italic("SUBCOMMAND") + "]\n";
  page += ".SH DESCRIPTION\n" + escaped(facts.program.summary) + "\n";
  for (const OptionFacts& option : facts.program.options) add_option(page, option, false);
  page += ".SH SUBCOMMANDS\n";
  for (const CommandFacts& command : facts.commands) add_command(page, program, command, common);
  page += ".SH OPTIONS OF ALL SUBCOMMANDS\n";
  for (const OptionFacts& option : common) add_option(page, option, false);
  return page + closing_sections;
}

}  // namespace attn
