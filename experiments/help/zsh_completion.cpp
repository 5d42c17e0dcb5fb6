#include "help/zsh_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {
namespace {

// In single quotes.
std::string quoted(const std::string& text) { return "'" + replace_all(text, "'", "'\\''") + "'"; }

// What _arguments and _describe take apart at colons and brackets.
std::string escaped(std::string text) {
  text = replace_all(text, "\\", "\\\\");
  for (const char* special : {":", "[", "]"}) text = replace_all(text, special, std::string("\\") + special);
  return text;
}

// ":SIZES: " or ":FILE:_files": the value's name, and what completes it.
std::string value_spec(const std::string& program, const OptionFacts& option) {
  std::string action = " ";
  switch (option.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::file:
      action = "_files";
      break;
    case ValueKind::folder:
      action = "_files -/";
      break;
    case ValueKind::file_list:
      action = "_sequence _files";
      break;
    case ValueKind::command:
      action = fmt::format("_{}_commands", program);
      break;
    case ValueKind::choice:
      action = fmt::format("({})", fmt::join(option.choices, " "));
      break;
    case ValueKind::choice_list:
      action = fmt::format("_sequence compadd - {}", fmt::join(option.choices, " "));
      break;
    case ValueKind::other:
      break;
  }
  return ":" + escaped(option.value_name) + ":" + action;
}

// One specification per name; a name rules out its synonyms, unless the option may come again.
std::string option_specs(const std::string& program, const OptionFacts& option, const std::string& indent) {
  std::string specs;
  for (const std::string& name : option.names) {
    const std::string before = option.repeatable ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    const char* equals = option.kind != ValueKind::none && name.starts_with("--") ? "=" : "";
    const std::string spec = before + name + equals + "[" + escaped(option.description) + "]" + value_spec(program, option);
    specs += indent + quoted(spec) + " \\\n";
  }
  return specs;
}

std::string commands_function(const ProgramFacts& facts) {
  const std::string& program = facts.program.name;
  std::string script = fmt::format("_{}_commands() {{\n  local -a commands\n  commands=(\n", program);
  for (const CommandFacts& command : facts.commands) {
    std::vector<std::string> names = {command.name};
    names.insert(names.end(), command.aliases.begin(), command.aliases.end());
    for (const std::string& name : names) script += "    " + quoted(name + ":" + escaped(command.summary)) + "\n";
  }
  return script + "  )\n  _describe -t commands command commands\n}\n\n";
}

std::string one_command(const std::string& program, const CommandFacts& command) {
  std::vector<std::string> patterns = {command.name};
  patterns.insert(patterns.end(), command.aliases.begin(), command.aliases.end());
  std::string script = fmt::format("    ({})\n      _arguments \\\n", fmt::join(patterns, "|"));
  for (const OptionFacts& option : command.options) script += option_specs(program, option, "        ");
  for (const OptionFacts& option : command.positionals) {
    script += "        " + quoted((option.repeatable ? "*" : "") + value_spec(program, option)) + " \\\n";
  }
  return script + "        && ret=0\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const ProgramFacts& facts) {
  const std::string& program = facts.program.name;
  std::string script = fmt::format("#compdef {0}\n# Completion for {0} in zsh. Written by {0} help --completion zsh.\n\n", program);
  script += commands_function(facts);
  script +=
      fmt::format("_{}() {{\n  local curcontext=\"$curcontext\" state line ret=1\n  typeset -A opt_args\n  _arguments -C \\\n", program);
  for (const OptionFacts& option : facts.program.options) script += option_specs(program, option, "    ");
  script += fmt::format("    '1:command:_{}_commands' \\\n    '*::argument:->arguments' \\\n    && ret=0\n", program);
  script += "  [[ $state == arguments ]] || return ret\n  case $words[1] in\n";
  for (const CommandFacts& command : facts.commands) script += one_command(program, command);
  return script + fmt::format("  esac\n  return ret\n}}\n\n_{0} \"$@\"\n", program);
}

}  // namespace attn
