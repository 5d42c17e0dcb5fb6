#include "report/text.h"

namespace attn {

std::string plain(const Line& line) {
  std::string all;
  for (const Span& span : line) all += span.text;
  return all;
}

Text& Text::line(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines_.push_back({{std::string(text.substr(0, end))}});
    text.remove_prefix(end + 1);
  }
  lines_.push_back({{std::string(text)}});
  return *this;
}

Text& Text::add(std::string_view text, Cell cell) {
  if (lines_.empty()) lines_.emplace_back();
  lines_.back().push_back({std::string(text), cell});
  return *this;
}

Text& Text::add_styled(std::string_view text, std::string_view style) {
  add(text);
  lines_.back().back().style = style;
  return *this;
}

Text& Text::append(const Text& other) {
  lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
  return *this;
}

std::string Text::str() const {
  std::string all;
  for (const Line& line : lines_) all += plain(line) + '\n';
  return all;
}

}  // namespace attn
