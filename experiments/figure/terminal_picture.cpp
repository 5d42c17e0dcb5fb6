#include "figure/terminal_picture.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "figure/color_scale.h"
#include "figure/column_headings.h"
#include "figure/labels.h"

namespace attn {
namespace {

// From these sizes on a coloured field is three lines high, and so about square: as many rows as still fit on a screen.
constexpr Index square_cell = 7;
constexpr Index most_square_rows = 8;

constexpr std::u32string_view shades = U" ░▒▓█";
constexpr std::u32string_view ascii_shades = U" .:-=+*#%@";

// Where everything stands.
struct TextLayout {
  std::vector<std::u32string> rows, columns;  // labels as they are shown
  Index label_width = 0, cell = 1;
  Index band = 1;  // columns in one band
  Index row_lines = 1;

  Index left() const { return label_width + 1; }
};

std::vector<std::u32string> shown(const std::vector<std::string>& labels, bool utf8) {
  std::vector<std::u32string> result;
  for (const std::string& label : labels) result.push_back(utf8 ? visible(label) : visible_ascii(label));
  return result;
}

// Headings may be letters one below another, and a column must hold each.
Index widest_letter(const std::vector<std::u32string>& labels) {
  Index widest = 1;
  for (const std::u32string& label : labels) {
    for (const char32_t letter : label) widest = std::max(widest, display_width(letter));
  }
  return widest;
}

TextLayout lay_out(const HeatMap& map, const TerminalStyle& style) {
  TextLayout layout{shown(map.row_labels, style.utf8), shown(map.column_labels, style.utf8)};
  for (std::u32string& label : layout.rows) {
    label = shortened(label, std::max<Index>(style.width / 4, 8), style.utf8);
    layout.label_width = std::max(layout.label_width, display_width(label));
  }
  const Index room = style.width - layout.left();
  const Index columns = map.values.cols();
  layout.cell = std::clamp<Index>(room / std::max<Index>(columns, 1), widest_letter(layout.columns), style.widest_cell);
  layout.band = std::min(columns, room / layout.cell);
  const bool square = style.true_color && layout.cell >= square_cell && map.values.rows() <= most_square_rows;
  layout.row_lines = square ? 3 : 1;
  return layout;
}

// A value in `width` columns: "0.68", ".68", hundredths, tenths; nothing in none.
std::string digits(double value, Index width) {
  if (width >= 4) return fmt::format("{:.2f}", value);
  const double hundredths = std::round(100 * value);
  if (width == 3) return hundredths < 100 ? fmt::format(".{:02.0f}", hundredths) : fmt::format("{:.1f}", value);
  if (width == 2) return fmt::format("{:02.0f}", std::min(hundredths, 99.0));
  return width == 1 ? fmt::format("{:.0f}", std::min(std::floor(10 * value), 9.0)) : "";
}

// What narrow cells' digits are; nothing where that is plain to see.
std::string unit_note(Index digits_width) {
  if (digits_width == 2) return "digits: hundredths, at most 99";
  return digits_width == 1 ? "digits: tenths, rounded down, at most 9" : "";
}

// Of a cell's columns those that digits get: all in colour but where there is only one, all but the shade's without.
Index digits_width(Index cell, const TerminalStyle& style) {
  if (!style.digits) return 0;
  return style.true_color ? (cell > 1 ? cell : 0) : cell - 1;
}

std::u32string shade_of(double share, bool utf8) {
  const std::u32string_view levels = utf8 ? shades : ascii_shades;
  const auto level = static_cast<std::size_t>(std::max(share, 0.0) * static_cast<double>(levels.size()));
  return {levels[std::min(level, levels.size() - 1)]};
}

std::string centered(const std::string& text, Index width) { return fmt::format("{:^{}}", text, width); }

std::string field_style(Rgb field) {
  const Rgb text = text_color_on(field);
  return fmt::format("48;2;{};{};{};38;2;{};{};{}", field.r, field.g, field.b, text.r, text.g, text.b);
}

std::string colored_cell(double value, Index cell, const TerminalStyle& style, bool with_digits) {
  return centered(with_digits ? digits(value, digits_width(cell, style)) : "", cell);
}

std::string shaded_cell(double value, double top, Index cell, const TerminalStyle& style) {
  const std::string number = digits(value, digits_width(cell, style));
  const std::string shade = encode_utf8(shade_of(value / top, style.utf8));
  constexpr Index with_gaps = 7;  // shade, space, four digits, space
  const std::string body = number.empty() ? shade + shade : shade + (cell >= with_gaps ? " " : "") + number;
  return centered(cell > 1 ? body : shade, cell);
}

// Fields three lines high have their digits in the middle one.
void add_cells(Text& text, std::span<const double> values, double top, Index cell, const TerminalStyle& style, bool with_digits) {
  std::string shaded;
  for (const double value : values) {
    if (style.true_color) {
      text.add_styled(colored_cell(value, cell, style, with_digits), field_style(scale_color(value / top)));
    } else {
      shaded += shaded_cell(value, top, cell, style);
    }
  }
  text.add(shaded.substr(0, shaded.find_last_not_of(' ') + 1));
}

// Labels are in the terminal's own colour: marked as styled, they are not searched for words that get one.
void add_label(Text& text, const std::u32string& label) { text.add_styled(encode_utf8(label), own_color); }

void add_row(Text& text, const HeatMap& map, const TextLayout& layout, const TerminalStyle& style, Index row, Index first, Index count) {
  const std::u32string& label = layout.rows[static_cast<std::size_t>(row)];
  for (Index line = 0; line < layout.row_lines; ++line) {
    const bool middle = line == layout.row_lines / 2;
    const Index blank = layout.left() - 1 - (middle ? display_width(label) : 0);
    text.line(std::string(static_cast<std::size_t>(blank), ' '));
    if (middle) add_label(text, label);
    text.add(" ");
    add_cells(text, {map.values.view().row(row) + first, static_cast<std::size_t>(count)}, map.top, layout.cell, style, middle);
  }
}

void add_band(Text& text, const HeatMap& map, const TextLayout& layout, const TerminalStyle& style, Index first, Index count) {
  const auto begin = layout.columns.begin() + first;
  for (const std::u32string& line : column_headings({begin, begin + count}, {layout.left(), layout.cell, style.width}, style.utf8)) {
    add_label(text.line(), line);
  }
  for (Index i = 0; i < map.values.rows(); ++i) add_row(text, map, layout, style, i, first, count);
}

void add_wrapped(Text& text, const std::string& sentence, const TerminalStyle& style) {
  for (const std::u32string& line : wrapped(style.utf8 ? visible(sentence) : visible_ascii(sentence), style.width)) {
    add_label(text.line(), line);
  }
}

// The scale from 0 to its end, as a bar of fields or as its shades in order.
void add_legend(Text& text, double top, const TerminalStyle& style) {
  constexpr int most_fields = 32;
  text.line("0 ");
  if (style.true_color) {
    const int fields = static_cast<int>(std::min<Index>(most_fields, style.width - 12));
    for (int i = 0; i < fields; ++i) text.add_styled(" ", field_style(scale_color(static_cast<double>(i) / (fields - 1))));
  } else {
    text.add(fmt::format("[{}]", encode_utf8(style.utf8 ? shades : ascii_shades)));
  }
  text.add(fmt::format(" {:g}", top));
}

}  // namespace

Text terminal_title(const HeatMap& map, const TerminalStyle& style) {
  Text text;
  add_wrapped(text, map.title, style);
  return text;
}

Text terminal_picture(const HeatMap& map, const TerminalStyle& style) {
  const TextLayout layout = lay_out(map, style);
  Text text;
  for (Index first = 0; first < map.values.cols(); first += layout.band) {
    text.line();
    add_band(text, map, layout, style, first, std::min(layout.band, map.values.cols() - first));
  }
  text.line();
  add_legend(text, map.top, style);
  const std::string unit = unit_note(digits_width(layout.cell, style));
  if (!unit.empty()) add_wrapped(text, unit, style);
  add_wrapped(text, fmt::format("each row is a {}, each column a {}", map.row_axis, map.column_axis), style);
  for (const std::string& note : map.notes) add_wrapped(text, note, style);
  return text;
}

}  // namespace attn
