// Options that several subcommands share, so that they are spelled, parsed and explained alike everywhere.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "matrix/matrix.h"
#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attn {

// An option that was added to a subcommand. Few files include CLI11 itself: each of them takes the compiler some ten seconds more.
class AddedOption {
 public:
  AddedOption() = default;  // none, which is never given
  explicit AddedOption(CLI::Option* option) : option_(option) {}

  AddedOption default_str(const std::string& text) const;  // the default that --help shows
  AddedOption required() const;
  AddedOption needs(const AddedOption& other) const;

  bool given() const;  // on the command line, once that was parsed
  const CLI::Option* get() const { return option_; }

 private:
  CLI::Option* option_ = nullptr;
};

// `names` are given as CLI11 takes them ("--d-k,--dk"); `value` is what --help calls the option's value.
AddedOption add_flag(CLI::App& app, const std::string& names, bool& target, const std::string& help);
AddedOption add_text(CLI::App& app, const std::string& names, const std::string& value, std::string& target, const std::string& help);

// An option that may be repeated.
AddedOption add_texts(CLI::App& app, const std::string& names, const std::string& value, std::vector<std::string>& target,
                      const std::string& help);

// `parse` gets the value's text and may throw UsageError.
AddedOption add_parsed(CLI::App& app, const std::string& names, const std::string& value,
                       const std::function<void(const std::string&)>& parse, const std::string& help);

// The command line that computes the same again, quoted for a shell: the options that were given, once that was parsed, without those that
// say where and how the result is written.
std::string command_of(const CLI::App& app);

// Text that --help prints behind the options.
void set_footer(CLI::App& app, const std::string& text);

// The present value of `target` is the default that --help shows.
AddedOption add_size(CLI::App& app, const std::string& names, Index& target, const std::string& help);
AddedOption add_sizes(CLI::App& app, const std::string& names, std::vector<Index>& target, const std::string& help);

// --seed: any non-negative integer, as NumPy takes it.
AddedOption add_seed(CLI::App& app, Seed& target);

// --advance: words of the stream, as a row's stream_position counts them, that are left out before the first row.
AddedOption add_advance(CLI::App& app, uint128& target);

// --document 1|2; 0 stands for both.
AddedOption add_document(CLI::App& app, int& target);

// An option that takes one of `words`; `chosen` gets the index of the one that was given.
AddedOption add_word(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                     const std::function<void(std::size_t)>& chosen, const std::string& help);

// An option that takes one of several words, each of which stands for a value.
template <class T>
AddedOption add_choice(CLI::App& app, const std::string& name, T& target, const std::vector<std::pair<std::string, T>>& choices,
                       const std::string& help) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  return add_word(
      app, name, words, [choices, &target](std::size_t index) { target = choices[index].second; }, help);
}

}  // namespace attn
