// Steady timings as a report: JSON rows in the words of Google Benchmark and hyperfine, and the text table.
#pragma once

#include <vector>

#include "report/report.h"
#include "timing/steady.h"

namespace attn {

// One record of everything that is known of a row.
Row steady_record(const SteadyRow& row, const SteadyOptions& options);

// Fills a row's results in from the one of `finished` that is about the same problem, drawn from the same place of the stream. False where
// there is none.
bool restore(SteadyRow& row, const SteadyOptions& options, const std::vector<Json>& finished);

// The command line that computes just this row, from the same numbers.
std::string repro_command(const SteadyRow& row, const SteadyOptions& options);

// The table of one point's rows, or, where only scores are timed, document 1's lines. `first` prints the table's head before it.
Text steady_text(const std::vector<SteadyRow>& rows, const SteadyOptions& options, bool first);

// One line per series: by what factor time and memory grew per doubling of n, with `stats` the fitted exponent of time too.
Text growth_text(const std::vector<Growth>& growths, bool stats);

}  // namespace attn
