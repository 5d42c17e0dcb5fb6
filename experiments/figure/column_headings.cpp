#include "figure/column_headings.h"

#include <algorithm>
#include <optional>

#include "figure/labels.h"

namespace attn {
namespace {

// Rows that letters one below another may take.
constexpr Index tallest = 14;

// A line that is filled from left to right. Positions are terminal columns.
class HeadingLine {
 public:
  // False where `text` would touch what stands before it, or end beyond `width`.
  bool place(const std::u32string& text, Index middle, Index width) {
    const Index wide = display_width(text);
    const Index start = std::min(std::max<Index>(middle - (wide - 1) / 2, 0), width - wide);
    if (start < used_ + (used_ > 0 ? 1 : 0)) return false;
    text_.append(static_cast<std::size_t>(start - used_), U' ');
    text_ += text;
    used_ = start + wide;
    return true;
  }

  const std::u32string& text() const { return text_; }

 private:
  std::u32string text_;
  Index used_ = 0;
};

std::optional<std::vector<std::u32string>> one_level(const std::vector<std::u32string>& labels, const ColumnPlaces& places) {
  HeadingLine line;
  for (std::size_t j = 0; j < labels.size(); ++j) {
    if (!line.place(labels[j], places.middle(j), places.width)) return std::nullopt;
  }
  return {{line.text()}};
}

std::optional<std::vector<std::u32string>> two_levels(const std::vector<std::u32string>& labels, const ColumnPlaces& places, bool utf8) {
  HeadingLine upper;
  HeadingLine lower;
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const Index middle = places.middle(j);
    const bool up = j % 2 == 1;
    if (up && !upper.place(labels[j], middle, places.width)) return std::nullopt;
    const std::u32string stroke = utf8 ? U"│" : U"|";
    if (!lower.place(up ? stroke : labels[j], middle, places.width)) return std::nullopt;
  }
  return {{upper.text(), lower.text()}};
}

std::vector<std::u32string> one_below_another(const std::vector<std::u32string>& labels, const ColumnPlaces& places, bool utf8) {
  std::vector<std::vector<std::u32string>> columns;
  std::size_t height = 0;
  for (const std::u32string& label : labels) {
    height = std::max(height, columns.emplace_back(letters_of(shortened(label, tallest, utf8))).size());
  }
  std::vector<std::u32string> lines(height);
  for (std::size_t i = 0; i < height; ++i) {
    Index used = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::size_t above = height - columns[j].size();  // labels end just above their columns
      if (i < above) continue;
      const std::u32string& letter = columns[j][i - above];
      lines[i].append(static_cast<std::size_t>(places.middle(j) - used), U' ');
      lines[i] += letter;
      used = places.middle(j) + display_width(letter);
    }
  }
  return lines;
}

}  // namespace

std::vector<std::u32string> column_headings(const std::vector<std::u32string>& labels, const ColumnPlaces& places, bool utf8) {
  if (const auto lines = one_level(labels, places)) return *lines;
  if (const auto lines = two_levels(labels, places, utf8)) return *lines;
  return one_below_another(labels, places, utf8);
}

}  // namespace attn
