// Options that several subcommands share, so that they are spelled, parsed and explained alike everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

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

}  // namespace attn
