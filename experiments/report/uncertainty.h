// A number with the digits that its uncertainty supports.
#pragma once

#include <string>

namespace attn {

// Digits behind the point that a number with this uncertainty supports, `most` of them at the most: one digit of the uncertainty itself,
// two where it begins with 1.
int supported_decimals(double uncertainty, int most = 4);

// "0.304 ± 0.002"
std::string with_uncertainty(double value, double uncertainty, int most_decimals = 4);

}  // namespace attn
