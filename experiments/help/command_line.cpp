#include "help/command_line.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "options/split.h"

namespace attn {
namespace {

constexpr std::string_view more = ",...";  // ends the type name of a list

void describe_value(OptionFacts& facts, const CLI::Option& option) {
  if (option.get_type_size() == 0 || option.get_expected_max() == 0) return;  // a flag
  facts.value_name = option.get_type_name();
  facts.default_value = option.get_default_str();
  const std::string& name = facts.value_name;
  facts.kind = ValueKind::other;
  if (name.find('|') != std::string::npos) {
    const bool list = name.ends_with(more);
    facts.kind = list ? ValueKind::choice_list : ValueKind::choice;
    facts.choices = split(std::string_view(name).substr(0, name.size() - (list ? more.size() : 0)), '|');
  } else if (name == "COMMAND") {
    facts.kind = ValueKind::command;
  } else if (name == "DIR" || name == "FOLDER") {
    facts.kind = ValueKind::folder;
  } else if (name.starts_with("FILE[,")) {
    facts.kind = ValueKind::file_list;
  } else if (name.find("FILE") != std::string::npos || name.find("PATH") != std::string::npos) {
    facts.kind = ValueKind::file;
  }
}

OptionFacts facts_of_option(const CLI::Option& option) {
  OptionFacts facts;
  if (option.get_positional()) {
    facts.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  }
  facts.description = option.get_description();
  facts.required = option.get_required();
  facts.repeatable = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  describe_value(facts, option);
  return facts;
}

CommandFacts facts_of_command(const CLI::App& app) {
  CommandFacts facts{app.get_name(), app.get_aliases(), app.get_description(), {}, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? facts.positionals : facts.options).push_back(facts_of_option(*option));
  }
  return facts;
}

}  // namespace

ProgramFacts facts_of(const CLI::App& app) {
  ProgramFacts facts{facts_of_command(app), {}};
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) facts.commands.push_back(facts_of_command(*sub));
  return facts;
}

std::vector<std::string> command_names(const ProgramFacts& facts) {
  std::vector<std::string> names;
  for (const CommandFacts& command : facts.commands) {
    names.push_back(command.name);
    names.insert(names.end(), command.aliases.begin(), command.aliases.end());
  }
  return names;
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

}  // namespace attn
