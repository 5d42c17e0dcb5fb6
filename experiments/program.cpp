#include "program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "context.h"
#include "experiment.h"
#include "help/help_command.h"
#include "machine/isa_targets.h"
#include "machine/threads.h"
#include "options/nearest_name.h"
#include "options/number_list.h"
#include "report/color.h"
#include "session.h"
#include "standard_output.h"

namespace attn {
namespace {

// The options that every subcommand has.
struct CommonOptions {
  std::string format = "text";
  bool json = false;
  std::string out;
  std::string expect;
  std::string resume;
  std::string color = "auto";
  bool quiet = false;
  std::string isa;
  Index threads = 0;
};

struct Subcommand {
  CLI::App* app = nullptr;
  CommonOptions options;
  std::function<Report(Session&)> run;
};

void add_common_options(CLI::App& app, CommonOptions& options, bool resumable) {
  app.add_option("--format", options.format, "How the result is printed")->type_name("text|json|jsonl|csv|markdown")->capture_default_str();
  app.add_flag("--json", options.json, "Short for --format json");
  app.add_option("--out", options.out, "Write the JSON document to this file besides")->type_name("FILE");
  app.add_option("--expect", options.expect,
                 "Compare what is printed with what was printed into this file before: exit 1 if a computed "
                 "cell differs; measured cells are passed over")
      ->type_name("FILE");
  if (resumable) {
    app.add_option("--resume", options.resume,
                   "Go on where the run that wrote this file stopped, and write to it unless --out names another")
        ->type_name("FILE");
  }
  app.add_flag("--quiet", options.quiet, "No warnings and no progress on stderr");
  app.add_option("--color", options.color, "Whether verdicts and pictures are coloured")
      ->type_name("auto|always|never")
      ->capture_default_str();
  app.add_option("--isa", options.isa, "Instruction set of the kernels, as ATTN_ISA in the environment")->type_name("NAME");
  const auto set_threads_option = [&options](const std::string& text) {
    options.threads = parse_size("--threads", text);
    if (options.threads > max_threads()) {
      throw UsageError(fmt::format("--threads: expected 1 to {}, found {}", max_threads(), options.threads));
    }
  };
  app.add_option_function<std::string>("--threads", set_threads_option,
                                       "Threads of the kernels (default: the cores that this process may use)")
      ->type_name("N");
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(typed, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    for (const std::string& alias : sub->get_aliases()) names.push_back(alias);
  }
  return names;
}

// Refuses what CLI11 could not place, naming the nearest known word.
void refuse_extras(const CLI::App& app, const CLI::App* chosen) {
  const std::vector<std::string> left = chosen != nullptr ? chosen->remaining() : std::vector<std::string>();
  if (!left.empty()) {
    std::string extra = left.front();
    if (extra.starts_with("-")) {
      extra = extra.substr(0, extra.find('='));
      const std::string hint = did_you_mean(extra, option_names(*chosen));
      throw UsageError(fmt::format("{}: unknown option '{}'{}", chosen->get_name(), extra, hint));
    }
    throw UsageError(fmt::format("{}: unexpected argument '{}'", chosen->get_name(), extra));
  }
  const std::vector<std::string> unplaced = app.remaining();
  if (unplaced.empty()) return;
  const std::string& extra = unplaced.front();
  const bool option = extra.starts_with("-");
  const std::string hint = did_you_mean(extra, option ? option_names(app) : subcommand_names(app));
  throw UsageError(fmt::format("unknown {} '{}'{}", option ? "option" : "subcommand", extra, hint));
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Parses; false where only help or the version was asked for, which is printed.
bool parse(CLI::App& app, int argc, char* argv[]) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& wish) {
    std::ostringstream out;
    std::ostringstream ignored;
    app.exit(wish, out, ignored);
    write_stdout(out.str());
    return false;
  } catch (const CLI::ParseError& error) {
    // A required option that is missing may have been misspelt.
    for (const CLI::App* sub : app.get_subcommands()) refuse_extras(app, sub);
    throw UsageError(one_line(error.what()));
  }
}

bool is_output(const std::string& name) { return name == "--out" || name == "--svg" || name.starts_with("--save-"); }

// Refuses a file that is written under two names, or read and written: the one would be lost. (--resume goes on in its own file.)
void refuse_same_files(const CLI::App& chosen) {
  std::map<std::string, std::string> users;  // of a path: the option
  for (const bool outputs : {false, true}) {
    for (const CLI::Option* option : chosen.get_options([](const CLI::Option* one) { return one->count() > 0; })) {
      const std::string name = option->get_name(false, true);
      const std::string first = name.substr(0, name.find(','));
      if (option->get_type_name().find("FILE") == std::string::npos || first == "--resume" || is_output(first) != outputs) continue;
      for (const std::string& value : option->results()) {
        const std::string path = std::filesystem::path(value.substr(0, value.find('#'))).lexically_normal().string();
        const auto [user, is_new] = users.try_emplace(path, first);
        const bool device = path.starts_with("/dev/");
        if (outputs && !is_new && !device)
          throw UsageError(fmt::format("{} and {}: expected two files, found {}", user->second, first, path));
      }
    }
  }
}

void configure_kernels(const CommonOptions& options) {
  if (options.isa.empty()) {
    force_target_from_environment();
  } else {
    force_target(options.isa);
  }
  if (options.threads > 0) set_threads(options.threads);
}

int run_subcommand(Subcommand& chosen, int argc, char* argv[]) {
  const CommonOptions& options = chosen.options;
  if (options.json && chosen.app->get_option("--format")->count() > 0 && options.format != "json") {
    throw UsageError(fmt::format("--json: expected no other --format beside it, found {}", options.format));
  }
  const Format format = options.json ? Format::json : parse_format(options.format);
  const bool color = wants_color(options.color);
  const bool true_color = wants_true_color(options.color);
  configure_kernels(options);
  Session session({format, options.out, options.expect, options.resume, options.quiet, color, true_color}, json_context(argc, argv));
  return session.finish(chosen.run(session));
}

}  // namespace

int run_program(int argc, char* argv[]) {
  CLI::App app("A lab bench for attention: reproduces, measures, checks and times scaled dot-product attention.", "attn");
  app.set_version_flag("--version", version_text);
  app.allow_extras();
  app.require_subcommand(0, 1);
  std::vector<std::unique_ptr<Subcommand>> subcommands;
  for (const Experiment& experiment : experiments()) {
    auto& sub = *subcommands.emplace_back(std::make_unique<Subcommand>());
    sub.app = app.add_subcommand(experiment.name, experiment.summary);
    sub.app->allow_extras();
    for (const std::string& alias : experiment.aliases) sub.app->alias(alias);
    sub.run = experiment.set_up(*sub.app);
    add_common_options(*sub.app, sub.options, experiment.resumable);
  }
  const HelpCommand help(app);
  if (!parse(app, argc, argv)) return 0;
  const auto chosen = std::find_if(subcommands.begin(), subcommands.end(), [](const auto& sub) { return sub->app->parsed(); });
  refuse_extras(app, chosen == subcommands.end() ? nullptr : (*chosen)->app);
  if (chosen != subcommands.end()) refuse_same_files(*(*chosen)->app);
  if (const auto text = help.text()) {
    write_stdout(*text);
    return 0;
  }
  if (chosen == subcommands.end()) throw UsageError("no subcommand: expected one of those that 'attn --help' lists");
  return run_subcommand(**chosen, argc, argv);
}

}  // namespace attn
