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

// `names` as CLI11 takes them ("--d-k,--dk"); the present value of `target` is the default that --help shows.
CLI::Option* add_size(CLI::App& app, const std::string& names, Index& target, const std::string& help);
CLI::Option* add_sizes(CLI::App& app, const std::string& names, std::vector<Index>& target, const std::string& help);

// --seed: any non-negative integer, as NumPy takes it.
CLI::Option* add_seed(CLI::App& app, Seed& target);

// --advance: words of the stream, as a row's stream_position counts them, that are left out before the first row.
CLI::Option* add_advance(CLI::App& app, uint128& target);

// --document 1|2; 0 stands for both.
CLI::Option* add_document(CLI::App& app, int& target);

// An option that takes one of `words`; `chosen` gets the index of the one that was given.
CLI::Option* add_word(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                      const std::function<void(std::size_t)>& chosen, const std::string& help);

// An option that takes one of several words, each of which stands for a value.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target, const std::vector<std::pair<std::string, T>>& choices,
                        const std::string& help) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  return add_word(app, name, words, [choices, &target](std::size_t index) { target = choices[index].second; }, help);
}

}  // namespace attn
