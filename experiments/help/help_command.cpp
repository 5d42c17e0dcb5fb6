#include "help/help_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "help/bash_completion.h"
#include "help/man_page.h"
#include "help/zsh_completion.h"
#include "machine/error.h"
#include "machine/isa_targets.h"
#include "measure/build_facts.h"
#include "options/nearest_name.h"

namespace attn {

HelpCommand::HelpCommand(CLI::App& app) : app_(app) {
  help_ = app.add_subcommand("help", "The options of a subcommand, as its --help prints them");
  help_->allow_extras(false);  // which it would take over from the program
  help_->add_option("COMMAND", command_, "A subcommand; without one, the list of all")->type_name("COMMAND");
  help_->add_flag("--man", man_, "Print the man page, for man -l");
  help_->add_option("--completion", shell_, "Print the completion for a shell")->type_name("bash|zsh");
}

std::optional<std::string> HelpCommand::text() const {
  if (!help_->parsed()) return std::nullopt;
  if (man_) return man_page(facts_of(app_), build_facts().attn_version);
  if (shell_.empty()) return help_text();
  if (shell_ == "bash") return bash_completion(facts_of(app_));
  if (shell_ == "zsh") return zsh_completion(facts_of(app_));
  throw UsageError(fmt::format("help: --completion: expected bash or zsh, found '{}'", shell_));
}

std::string HelpCommand::help_text() const {
  // App::help() of the program would print the help of `help`, which is the subcommand that was given: so the formatter is asked.
  if (command_.empty()) return app_.get_formatter()->make_help(&app_, app_.get_name(), CLI::AppFormatMode::Normal);
  for (const CLI::App* sub : app_.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->check_name(command_)) return sub->help(app_.get_name());
  }
  const std::string nearest = nearest_name(command_, command_names(facts_of(app_)));
  throw UsageError(
      fmt::format("help: unknown subcommand '{}'{}", command_, nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

std::string version_text() {
  const BuildFacts build = build_facts();
  std::string revision = build.git_sha.value_or("unknown");
  if (build.git_dirty.value_or(false)) revision += ", with changes";
  return fmt::format("attn {}\ngit revision: {}\ncompiler: {}, {}\ninstruction sets: {} (in use: {})", build.attn_version, revision,
                     build.compiler, build.library_build_type, fmt::join(available_targets(), " "), active_target());
}

}  // namespace attn
