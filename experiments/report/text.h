// Lines of output whose pieces know whether they were computed or measured.
//
// Every printer (text, JSON, CSV, Markdown) makes a Text. What is computed must be the same in every run, what is measured may not be
// compared byte for byte: so the comparison with a document or with an earlier output works alike for all formats.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace attn {

// What a piece of text is, and so how a check treats it.
enum class Cell {
  exact,           // the same in every run
  time_ms,         // a measured time: a positive number
  rounding_error,  // the size of a rounding error: a number of at most 1e-15
  measured,        // anything else that depends on the machine or the moment
};

// Parameters of the escape sequence "select graphic rendition", where a span is to look other than its words make it look.
inline constexpr std::string_view own_color = "39";  // the terminal's own colour for text

struct Span {
  std::string text;
  Cell cell = Cell::exact;
  std::string style = {};  // as above; used only where output is coloured
};

using Line = std::vector<Span>;

// The characters of a line.
std::string plain(const Line& line);

class Text {
 public:
  // Begins a line with `text`; every '\n' in it begins a further one.
  Text& line(std::string_view text = {});

  // Appends to the last line.
  Text& add(std::string_view text, Cell cell = Cell::exact);

  // The same with a style of its own.
  Text& add_styled(std::string_view text, std::string_view style);

  // Appends all lines of another text.
  Text& append(const Text& other);

  const std::vector<Line>& lines() const { return lines_; }

  // All characters, every line ended by '\n'.
  std::string str() const;

 private:
  std::vector<Line> lines_;
};

}  // namespace attn
