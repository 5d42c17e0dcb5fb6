// The colours of a picture's values, and of what is written on them.
//
// The scale is viridis (Stefan van der Walt and Nathaniel Smith, 2015, released as CC0): made so that equal steps of the value look like
// equal steps of colour, from dark to light also for the colour-blind and in grey.
#pragma once

#include <cstdint>
#include <string>

namespace attn {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;

  bool operator==(const Rgb&) const = default;
};

// The scale's colour at `share` of its length, from 0 (dark violet) to 1 (yellow); beyond its ends that of the end.
Rgb scale_color(double share);

// WCAG 2.1: relative luminance, 0 black to 1 white; and the contrast ratio of two colours, 1 to 21. Text needs 4.5.
double relative_luminance(Rgb color);
double contrast_ratio(Rgb a, Rgb b);

// Black or white, whichever can be read better on `background`.
Rgb text_color_on(Rgb background);

// A grey that has a contrast of 4.5 with white and with black, so that text in it can be read on a page of either.
inline constexpr Rgb label_grey{0x76, 0x76, 0x76};

// "#rrggbb"
std::string hex(Rgb color);

}  // namespace attn
