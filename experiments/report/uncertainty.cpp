#include "report/uncertainty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn {

int supported_decimals(double uncertainty, int most) {
  if (!(uncertainty > 0)) return most;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(uncertainty) + 0.3)), 0, most);
}

std::string with_uncertainty(double value, double uncertainty, int most_decimals) {
  const int decimals = supported_decimals(uncertainty, most_decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", value, decimals, uncertainty, decimals);
}

}  // namespace attn
