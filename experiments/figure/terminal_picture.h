// A heat map in a terminal.
//
// In 24-bit colour each cell is a coloured field with its value on it; without, the value stands beside a shade of four strengths ("
// ░▒▓█"), or of ten (" .:-=+*#%@") where there is no UTF-8. Cells are as wide as the terminal allows, up to `widest_cell`; narrower ones
// show fewer digits, and where one column each is too much the picture is cut into bands of columns, one below another.
#pragma once

#include "figure/heat_map.h"
#include "report/text.h"

namespace attn {

struct TerminalStyle {
  Index width = 80;  // columns, at least 20
  bool true_color = false;
  bool utf8 = false;
  Index widest_cell = 8;
  bool digits = true;  // in the cells
};

Text terminal_title(const HeatMap& map, const TerminalStyle& style);

// Everything but the title. No line is wider than style.width. Without colour and UTF-8 all characters are ASCII.
Text terminal_picture(const HeatMap& map, const TerminalStyle& style);

}  // namespace attn
