// One number for every head of a model, as lines of a table.
#pragma once

#include "matrix/matrix.h"
#include "report/text.h"

namespace attn {

// A line per layer, a column per head, three digits; as many columns side by side as `width` holds, the others below.
Text head_table(MatrixView<const double> values, Index width);

}  // namespace attn
