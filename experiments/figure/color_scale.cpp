#include "figure/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

// Seventeen of viridis's 256 colours, evenly spaced (matplotlib 3.11.2, colormaps["viridis"]). Straight lines between them stay within
// 6 of 255 of the others.
constexpr Rgb anchors[] = {{68, 1, 84},    {72, 24, 106},  {71, 45, 123},  {66, 64, 134},  {59, 82, 139},  {51, 99, 141},
                           {44, 114, 142}, {38, 129, 142}, {33, 144, 140}, {31, 159, 136}, {40, 174, 128}, {62, 188, 116},
                           {93, 201, 99},  {130, 211, 76}, {171, 220, 50}, {213, 226, 26}, {253, 231, 37}};
constexpr int steps = static_cast<int>(std::size(anchors)) - 1;

std::uint8_t between(std::uint8_t a, std::uint8_t b, double share) { return static_cast<std::uint8_t>(std::lround(a + (b - a) * share)); }

// A channel of sRGB as light.
double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

}  // namespace

Rgb scale_color(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * steps;
  const int below = std::min(static_cast<int>(at), steps - 1);
  const Rgb a = anchors[below];
  const Rgb b = anchors[below + 1];
  return {between(a.r, b.r, at - below), between(a.g, b.g, at - below), between(a.b, b.b, at - below)};
}

double relative_luminance(Rgb color) { return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b); }

double contrast_ratio(Rgb a, Rgb b) {
  const auto [darker, lighter] = std::minmax({relative_luminance(a), relative_luminance(b)});
  return (lighter + 0.05) / (darker + 0.05);
}

Rgb text_color_on(Rgb background) {
  constexpr Rgb black{0, 0, 0};
  constexpr Rgb white{255, 255, 255};
  return contrast_ratio(background, black) > contrast_ratio(background, white) ? black : white;
}

std::string hex(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b); }

}  // namespace attn
