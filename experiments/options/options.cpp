#include "options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "machine/error.h"
#include "options/number_list.h"

namespace attn {
namespace {

// The first long name, for error messages.
std::string first_name(const std::string& names) { return names.substr(0, names.find(',')); }

bool is_about_output(const std::string& name) {
  constexpr std::string_view all[] = {"--format", "--json", "--out", "--expect", "--quiet", "--color"};
  return name.starts_with("--save-") || std::find(std::begin(all), std::end(all), name) != std::end(all);
}

std::string quoted_for_shell(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+-#@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos && word.front() != '#') return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

AddedOption AddedOption::default_str(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

AddedOption AddedOption::required() const {
  option_->required();
  return *this;
}

AddedOption AddedOption::needs(const AddedOption& other) const {
  option_->needs(other.option_);
  return *this;
}

bool AddedOption::given() const { return option_ != nullptr && option_->count() > 0; }

AddedOption add_flag(CLI::App& app, const std::string& names, bool& target, const std::string& help) {
  return AddedOption(app.add_flag(names, target, help));
}

AddedOption add_text(CLI::App& app, const std::string& names, const std::string& value, std::string& target, const std::string& help) {
  return AddedOption(app.add_option(names, target, help)->type_name(value));
}

AddedOption add_texts(CLI::App& app, const std::string& names, const std::string& value, std::vector<std::string>& target,
                      const std::string& help) {
  return AddedOption(app.add_option(names, target, help)->type_name(value));
}

AddedOption add_parsed(CLI::App& app, const std::string& names, const std::string& value,
                       const std::function<void(const std::string&)>& parse, const std::string& help) {
  return AddedOption(app.add_option_function<std::string>(names, parse, help)->type_name(value));
}

std::string command_of(const CLI::App& app) {
  std::string command = "attn " + app.get_name();
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->count() > 0; })) {
    const std::string name = first_name(option->get_name(false, true));
    if (is_about_output(name)) continue;
    if (option->get_items_expected_max() == 0) {
      command += " " + name;
      continue;
    }
    for (const std::string& value : option->results()) command += " " + name + " " + quoted_for_shell(value);
  }
  return command;
}

void set_footer(CLI::App& app, const std::string& text) { app.footer(text); }

AddedOption add_size(CLI::App& app, const std::string& names, Index& target, const std::string& help) {
  const std::string name = first_name(names);
  const auto parse = [name, &target](const std::string& text) { target = parse_size(name, text); };
  return add_parsed(app, names, "SIZE", parse, help).default_str(std::to_string(target));
}

AddedOption add_sizes(CLI::App& app, const std::string& names, std::vector<Index>& target, const std::string& help) {
  const std::string name = first_name(names);
  const auto parse = [name, &target](const std::string& text) { target = parse_sizes(name, text); };
  return add_parsed(app, names, "SIZES", parse, help).default_str(fmt::format("{}", fmt::join(target, ",")));
}

AddedOption add_seed(CLI::App& app, Seed& target) {
  const auto parse = [&target](const std::string& text) {
    try {
      target = Seed::parse(text);
    } catch (const UsageError&) {
      throw UsageError(fmt::format("--seed: expected a non-negative integer, found '{}'", text));
    }
  };
  return add_parsed(app, "--seed", "INTEGER", parse, "Seed of the random numbers, as NumPy's default_rng takes it")
      .default_str(target.text());
}

AddedOption add_advance(CLI::App& app, uint128& target) {
  const auto parse = [&target](const std::string& text) { target = parse_uint128(text, "--advance"); };
  return add_parsed(app, "--advance", "WORDS", parse,
                    "Leave out so many 64-bit words of the stream before the first row (see stream_position)")
      .default_str("0");
}

AddedOption add_document(CLI::App& app, int& target) {
  const auto parse = [&target](const std::string& text) {
    if (text != "1" && text != "2") throw UsageError(fmt::format("--document: expected 1 or 2, found '{}'", text));
    target = text == "1" ? 1 : 2;
  };
  return add_parsed(app, "--document", "1|2", parse, "Only this document's part").default_str("both");
}

AddedOption add_word(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                     const std::function<void(std::size_t)>& chosen, const std::string& help) {
  const std::string all = fmt::format("{}", fmt::join(words, "|"));
  const auto parse = [name, all, words, chosen](const std::string& text) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) throw UsageError(fmt::format("{}: expected {}, found '{}'", name, all, text));
    chosen(static_cast<std::size_t>(found - words.begin()));
  };
  return add_parsed(app, name, all, parse, help);
}

}  // namespace attn
