// Steady timings as a report: JSON rows in the words of Google Benchmark and hyperfine, and the text table.
#pragma once

#include <vector>

#include "report/report.h"
#include "timing/steady.h"

namespace attn {

// One record of everything that is known of a row.
Row steady_record(const SteadyRow& row, const SteadyOptions& options);

// The table of one point's rows, or, where only scores are timed, document 1's lines; with `stats` further lines on each row.
// `first` prints the table's head before it.
Text steady_text(const std::vector<SteadyRow>& rows, const SteadyOptions& options, bool first, bool stats);

// One line per series: by what factor time and memory grew per doubling of n, and the fitted exponent of time.
Text growth_text(const std::vector<Growth>& growths, bool stats);

}  // namespace attn
