#include "figure/svg_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figure/color_scale.h"
#include "figure/labels.h"

namespace attn {
namespace {

// All lengths are in pixels.
constexpr double margin = 16;
constexpr double font = 13;
constexpr double title_font = 16;
constexpr double line_height = 20;
constexpr double column_em = 0.62;  // mean width of a letter over the font's size, in the wider of the usual fonts
constexpr double legend_width = 14;
constexpr double legend_gap = 22;
constexpr double legend_labels = 44;
constexpr Index most_with_digits = 32;
constexpr Index most_with_titles = 64;

double text_width(std::u32string_view text, double size) { return static_cast<double>(display_width(text)) * column_em * size; }

double text_width(const std::string& text, double size) { return text_width(visible(text), size); }

// A text as XML has it.
std::string xml(std::u32string_view text) {
  std::string result;
  for (const char c : encode_utf8(text)) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string xml(const std::string& text) { return xml(visible(text)); }

double widest(const std::vector<std::string>& labels) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label, font));
  return width;
}

// Where everything stands; y grows downwards.
struct SvgLayout {
  double cell = 44;
  Index label_step = 1;  // each so many-th label is shown
  bool slanted = false;  // column labels
  double left = 0, top = 0, width = 0, height = 0;
  std::vector<std::u32string> notes;

  double x(Index column) const { return left + static_cast<double>(column) * cell; }
  double y(Index row) const { return top + static_cast<double>(row) * cell; }
};

double cell_size(Index most) {
  constexpr Index roomy = 16;
  if (most <= roomy) return 44;
  constexpr double all_cells = 1000;
  return most <= most_with_digits ? 34 : std::max(4.0, std::floor(all_cells / static_cast<double>(most)));
}

SvgLayout lay_out(const HeatMap& map) {
  SvgLayout layout;
  const Index rows = map.values.rows();
  const Index columns = map.values.cols();
  layout.cell = cell_size(std::max(rows, columns));
  layout.label_step = static_cast<Index>(std::ceil(font / layout.cell));
  const double widest_column = widest(map.column_labels);
  layout.slanted = widest_column > static_cast<double>(layout.label_step) * layout.cell - 4;
  const double heading = layout.slanted ? widest_column * std::sqrt(0.5) + font : font + 4;
  layout.left = margin + widest(map.row_labels) + 8;
  layout.top = margin + title_font + 14 + heading + 6;
  // The last slanted label leans out to the right.
  const double grid_end = layout.x(columns) + std::max(legend_gap + legend_width + legend_labels, layout.slanted ? heading : 0);
  constexpr double least_width = 420;
  layout.width = std::max({grid_end, margin + text_width(map.title, title_font), least_width}) + margin;
  std::vector<std::string> notes = {fmt::format("Each row is a {}, each column a {}.", map.row_axis, map.column_axis)};
  notes.insert(notes.end(), map.notes.begin(), map.notes.end());
  for (const std::string& note : notes) {
    const auto columns_of_text = static_cast<Index>((layout.width - 2 * margin) / (column_em * font));
    for (std::u32string& line : wrapped(visible(note), columns_of_text)) layout.notes.push_back(std::move(line));
  }
  layout.height = layout.y(rows) + margin + static_cast<double>(layout.notes.size()) * line_height + margin / 2;
  return layout;
}

std::string head(const HeatMap& map, const SvgLayout& layout) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
      "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"{2}\" fill=\"{3}\">\n",
      layout.width, layout.height, font, hex(label_grey));
  svg += fmt::format("<title>{}</title>\n", xml(map.title));
  svg += "<defs><linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
  constexpr int stops = 16;
  for (int i = 0; i <= stops; ++i) {
    const double share = static_cast<double>(i) / stops;
    svg += fmt::format("<stop offset=\"{:g}\" stop-color=\"{}\"/>", share, hex(scale_color(share)));
  }
  svg += "</linearGradient></defs>\n";
  return svg + fmt::format("<text x=\"{:g}\" y=\"{:g}\" font-size=\"{:g}\" font-weight=\"600\">{}</text>\n", margin, margin + title_font,
                           title_font, xml(map.title));
}

std::string labels(const HeatMap& map, const SvgLayout& layout) {
  std::string svg;
  for (Index i = 0; i < map.values.rows(); i += layout.label_step) {
    svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\" dominant-baseline=\"central\">{}</text>\n", layout.left - 8,
                       layout.y(i) + layout.cell / 2, xml(map.row_labels[static_cast<std::size_t>(i)]));
  }
  for (Index j = 0; j < map.values.cols(); j += layout.label_step) {
    const double x = layout.x(j) + layout.cell / 2;
    const double y = layout.top - 8;
    const std::string place = layout.slanted ? fmt::format("text-anchor=\"start\" transform=\"rotate(-45 {:g} {:g})\"", x, y)
                                             : std::string("text-anchor=\"middle\"");
    svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" {}>{}</text>\n", x, y, place, xml(map.column_labels[static_cast<std::size_t>(j)]));
  }
  return svg;
}

std::string cell(const HeatMap& map, const SvgLayout& layout, Index i, Index j) {
  const Index most = std::max(map.values.rows(), map.values.cols());
  const double value = map.values(i, j);
  const Rgb color = scale_color(value / map.top);
  // A hair wider than the cell, so that no light shows between neighbours.
  std::string svg = fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"{}\"", layout.x(j), layout.y(i),
                                layout.cell + 0.3, layout.cell + 0.3, hex(color));
  if (most > most_with_titles) return svg + "/>\n";
  const std::string& query = map.row_labels[static_cast<std::size_t>(i)];
  const std::string& key = map.column_labels[static_cast<std::size_t>(j)];
  svg += fmt::format("><title>{}, {}: {:.4f}</title></rect>\n", xml(query), xml(key), value);
  if (most > most_with_digits) return svg;
  const double size = layout.cell >= 40 ? font : 11;
  return svg + fmt::format(
                   "<text x=\"{:g}\" y=\"{:g}\" font-size=\"{:g}\" fill=\"{}\" text-anchor=\"middle\" dominant-baseline=\"central\" "
                   "pointer-events=\"none\">{:.2f}</text>\n",
                   layout.x(j) + layout.cell / 2, layout.y(i) + layout.cell / 2, size, hex(text_color_on(color)), value);
}

// The scale beside the cells, with five marks.
std::string legend(const HeatMap& map, const SvgLayout& layout) {
  const double x = layout.x(map.values.cols()) + legend_gap;
  const double height = layout.y(map.values.rows()) - layout.top;
  std::string svg = fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"url(#scale)\"/>\n", x, layout.top,
                                legend_width, height);
  constexpr int marks = 4;
  for (int i = 0; i <= marks; ++i) {
    const double share = static_cast<double>(i) / marks;
    svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" font-size=\"12\" dominant-baseline=\"central\">{:.4g}</text>\n", x + legend_width + 6,
                       layout.top + (1 - share) * height, share * map.top);
  }
  return svg;
}

std::string notes(const HeatMap& map, const SvgLayout& layout) {
  std::string svg;
  double y = layout.y(map.values.rows()) + margin + font;
  for (const std::u32string& note : layout.notes) {
    svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\">{}</text>\n", margin, y, xml(note));
    y += line_height;
  }
  return svg;
}

}  // namespace

std::string svg_picture(const HeatMap& map) {
  const SvgLayout layout = lay_out(map);
  std::string svg = head(map, layout) + labels(map, layout);
  for (Index i = 0; i < map.values.rows(); ++i) {
    for (Index j = 0; j < map.values.cols(); ++j) svg += cell(map, layout, i, j);
  }
  return svg + legend(map, layout) + notes(map, layout) + "</svg>\n";
}

}  // namespace attn
