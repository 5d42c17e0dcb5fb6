// Axes of a sweep: several lists of sizes multiply, the one named first on the command line varying slowest.
#pragma once

#include <vector>

#include "matrix/matrix.h"
#include "options/options.h"

namespace attn {

struct Axis {
  AddedOption option;  // none: not an option of this call
  std::vector<Index> values;
};

// All combinations of the axes' values, each in the order of `axes`. Axes that were not named vary slowest, in their own order; the named
// ones follow in the order in which `app` met them; without `app` none was named.
std::vector<std::vector<Index>> combinations(const std::vector<Axis>& axes, const CLI::App* app);

}  // namespace attn
