// generate-sweep's rows as records and text.
#pragma once

#include <string>
#include <vector>

#include "generate_sweep.h"
#include "timing/measurement_record.h"

namespace attn {

// One record of everything that is known of a row.
Row generation_record(const GenerationRow& row, const GenerationOptions& options);

// Fills a row's results in from the one of `finished` that is about the same point, drawn from the same place of the stream. False where
// there is none.
bool restore(GenerationRow& row, const GenerationOptions& options, const std::vector<Json>& finished);

// The lines of one point's rows; `first` prints the table's head before them.
Text generation_text(const std::vector<GenerationRow>& rows, Statistic statistic, bool first);

// How the ways grow with n.
Block generation_growth_block(const std::vector<GenerationGrowth>& growths);

}  // namespace attn
