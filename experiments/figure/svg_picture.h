// A heat map as an SVG file that stands alone: no style sheet, font or script from elsewhere, and no background of its own.
//
// Cells carry their values up to 32 rows and columns, and say them when pointed at up to 64. What stands beside the cells is in one grey
// that can be read on white and on black.
#pragma once

#include <string>

#include "figure/heat_map.h"

namespace attn {

std::string svg_picture(const HeatMap& map);

}  // namespace attn
