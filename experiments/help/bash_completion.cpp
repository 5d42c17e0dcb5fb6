#include "help/bash_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {
namespace {

// Words without blanks, so that a list of them needs quotes only around it.
std::string quoted(const std::vector<std::string>& words) { return fmt::format("'{}'", fmt::join(words, " ")); }

// {0} is the program's name. Lists are completed after their last comma; --option=value arrives as three words where bash breaks words
// at "=".
constexpr const char* helpers = R"(# Completion for {0} in bash. Written by {0} help --completion bash.

_{0}_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }}
_{0}_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}}
_{0}_list() {{
  local last=${{cur##*,}}
  mapfile -t COMPREPLY < <(compgen -P "${{cur%"$last"}}" "$@" -- "$last")
}}

_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} command='' i
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} != -* ]]; then
      command=${{COMP_WORDS[i]}}
      break
    fi
  done
)";

// What completes a value; empty where only the user knows.
std::string action(const std::string& program, const OptionFacts& option, const ProgramFacts& facts) {
  switch (option.kind) {
    case ValueKind::file:
      return fmt::format("_{}_files -f", program);
    case ValueKind::folder:
      return fmt::format("_{}_files -d", program);
    case ValueKind::file_list:
      return fmt::format("_{}_list -f", program);
    case ValueKind::command:
      return fmt::format("_{}_words {}", program, quoted(command_names(facts)));
    case ValueKind::choice:
      return fmt::format("_{}_words {}", program, quoted(option.choices));
    case ValueKind::choice_list:
      return fmt::format("_{}_list -W {}", program, quoted(option.choices));
    case ValueKind::none:
    case ValueKind::other:
      break;
  }
  return "";
}

std::string one_command(const std::string& program, const CommandFacts& command, const ProgramFacts& facts) {
  std::vector<std::string> patterns = {command.name};
  patterns.insert(patterns.end(), command.aliases.begin(), command.aliases.end());
  std::string script = fmt::format("    {})\n      case $prev in\n", fmt::join(patterns, " | "));
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.kind == ValueKind::none) continue;
    const std::string completed = action(program, option, facts);
    script += fmt::format("        {}) {};;\n", fmt::join(option.names, " | "), completed.empty() ? "" : completed + " ");
  }
  const std::string words = fmt::format("_{}_words {}", program, quoted(names));
  const std::string value = command.positionals.empty() ? "" : action(program, command.positionals.front(), facts);
  if (value.empty()) {
    script += fmt::format("        *) {} ;;\n", words);
  } else {
    script += fmt::format("        *) if [[ $cur == -* ]]; then {}; else {}; fi ;;\n", words, value);
  }
  return script + "      esac\n      ;;\n";
}

}  // namespace

std::string bash_completion(const ProgramFacts& facts) {
  const std::string& program = facts.program.name;
  std::vector<std::string> first = command_names(facts);
  for (const OptionFacts& option : facts.program.options) first.insert(first.end(), option.names.begin(), option.names.end());

  std::string script = fmt::format(helpers, program);
  script += fmt::format("  case $command in\n    '') _{}_words {} ;;\n", program, quoted(first));
  for (const CommandFacts& command : facts.commands) script += one_command(program, command, facts);
  return script + fmt::format("  esac\n}}\n\ncomplete -F _{0} {0}\n", program);
}

}  // namespace attn
