// layer-sweep's rows as records and text.
#pragma once

#include <string>
#include <vector>

#include "layer_sweep.h"
#include "timing/measurement_record.h"

namespace attn {

// One record of everything that is known of a part.
Row part_record(const LayerPartRow& row, const LayerOptions& options);

// The record of a whole layer.
Row layer_record(const LayerTotal& layer, const LayerOptions& options);

// Fills a part's results in from the one of `finished` that is about the same point, drawn from the same place of the stream. False where
// there is none.
bool restore(LayerPartRow& row, const LayerOptions& options, const std::vector<Json>& finished);

// The lines of one point's parts and layers; `first` prints the table's head before them.
Text layer_text(const std::vector<LayerPartRow>& parts, const std::vector<LayerTotal>& layers, Statistic statistic, bool first);

// From which n on attention is more than half.
Block majority_block(const std::vector<LayerMajority>& majorities, bool causal);

}  // namespace attn
