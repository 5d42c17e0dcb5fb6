#include "options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "machine/error.h"
#include "options/number_list.h"

namespace attn {
namespace {

// The first long name, for error messages.
std::string first_name(const std::string& names) { return names.substr(0, names.find(',')); }

}  // namespace

CLI::Option* add_size(CLI::App& app, const std::string& names, Index& target, const std::string& help) {
  const std::string name = first_name(names);
  return app
      .add_option_function<std::string>(
          names, [name, &target](const std::string& text) { target = parse_size(name, text); }, help)
      ->type_name("SIZE")
      ->default_str(std::to_string(target));
}

CLI::Option* add_sizes(CLI::App& app, const std::string& names, std::vector<Index>& target, const std::string& help) {
  const std::string name = first_name(names);
  return app
      .add_option_function<std::string>(
          names, [name, &target](const std::string& text) { target = parse_sizes(name, text); }, help)
      ->type_name("SIZES")
      ->default_str(fmt::format("{}", fmt::join(target, ",")));
}

CLI::Option* add_seed(CLI::App& app, Seed& target) {
  const auto parse = [&target](const std::string& text) {
    try {
      target = Seed::parse(text);
    } catch (const UsageError&) {
      throw UsageError(fmt::format("--seed: expected a non-negative integer, found '{}'", text));
    }
  };
  return app.add_option_function<std::string>("--seed", parse, "Seed of the random numbers, as NumPy's default_rng takes it")
      ->type_name("INTEGER")
      ->default_str(target.text());
}

CLI::Option* add_advance(CLI::App& app, uint128& target) {
  return app
      .add_option_function<std::string>(
          "--advance", [&target](const std::string& text) { target = parse_uint128(text, "--advance"); },
          "Leave out so many 64-bit words of the stream before the first row (see stream_position)")
      ->type_name("WORDS")
      ->default_str("0");
}

CLI::Option* add_document(CLI::App& app, int& target) {
  const auto parse = [&target](const std::string& text) {
    if (text != "1" && text != "2") throw UsageError(fmt::format("--document: expected 1 or 2, found '{}'", text));
    target = text == "1" ? 1 : 2;
  };
  return app.add_option_function<std::string>("--document", parse, "Only this document's part")->type_name("1|2")->default_str("both");
}

CLI::Option* add_word(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                      const std::function<void(std::size_t)>& chosen, const std::string& help) {
  const std::string all = fmt::format("{}", fmt::join(words, "|"));
  const auto parse = [name, all, words, chosen](const std::string& text) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) throw UsageError(fmt::format("{}: expected {}, found '{}'", name, all, text));
    chosen(static_cast<std::size_t>(found - words.begin()));
  };
  return app.add_option_function<std::string>(name, parse, help)->type_name(all);
}

}  // namespace attn
