// The digits NumPy prints for one floating-point number.
//
// NumPy prints the fewest digits that still read back as the same number (Steele and White 1990; std::to_chars gives the same digits).
// Where an array's precision allows fewer digits than that, it prints the number's exact decimal expansion, rounded half to even.
#pragma once

#include <limits>
#include <string>

namespace attn {

// No limit on the digits behind the point.
inline constexpr int all_digits = std::numeric_limits<int>::max();

// A finite number without an exponent: "-0.25", "12.", "0.33333333" (max_fraction 8). The point is always there; zeros behind the last
// digit never are.
template <class T>
std::string positional_text(T x, int max_fraction);

// A finite number with an exponent of at least two digits: "1.e-05", "3.3333333e+100". As above the point is there and no needless zeros.
template <class T>
std::string scientific_text(T x, int max_fraction);

// A finite number with an exponent of at least `exponent_digits` digits and exactly `fraction` digits behind the point. Digits beyond the
// shortest ones come from the number's exact expansion: 0.1F with 8 of them is "1.00000001e-01".
template <class T>
std::string padded_scientific_text(T x, int fraction, int exponent_digits);

// What str() gives for a NumPy scalar: "3.0", "1e-05", "-inf", "nan"; an exponent below 1e-4 and from 1e16 on (float: 1e6).
template <class T>
std::string scalar_text(T x);

}  // namespace attn
