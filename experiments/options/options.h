// Options that several subcommands share, so that they are spelled, parsed and explained alike everywhere.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "machine/error.h"
#include "matrix/matrix.h"
#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"

namespace attn {

// `names` as CLI11 takes them ("--d-k,--dk"); the present value of `target` is the default that --help shows.
CLI::Option* add_size(CLI::App& app, const std::string& names, Index& target, const std::string& help);
CLI::Option* add_sizes(CLI::App& app, const std::string& names, std::vector<Index>& target, const std::string& help);

// --seed: any non-negative integer, as NumPy takes it.
CLI::Option* add_seed(CLI::App& app, Seed& target);

// --advance: words of the stream, as a row's stream_position counts them, that are left out before the first row.
CLI::Option* add_advance(CLI::App& app, uint128& target);

// --document 1|2; 0 stands for both.
CLI::Option* add_document(CLI::App& app, int& target);

// An option that takes one of several words, each of which stands for a value.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target, const std::vector<std::pair<std::string, T>>& choices,
                        const std::string& help) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  const std::string all = fmt::format("{}", fmt::join(words, "|"));
  const auto parse = [name, all, choices, &target](const std::string& text) {
    for (const auto& [word, value] : choices) {
      if (word != text) continue;
      target = value;
      return;
    }
    throw UsageError(fmt::format("{}: expected {}, found '{}'", name, all, text));
  };
  return app.add_option_function<std::string>(name, parse, help)->type_name(all);
}

}  // namespace attn
