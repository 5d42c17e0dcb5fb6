#include "figure/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace attn {
namespace {

constexpr char32_t replacement = U'\uFFFD';

struct Range {
  char32_t first, last;
};

// Blocks that are wide throughout, or nearly so (Unicode 15, EastAsianWidth.txt).
constexpr Range wide[] = {{0x1100, 0x115F}, {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},
                          {0xA960, 0xA97F}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                          {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
// Combining marks, joiners, variation selectors.
constexpr Range zero[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F}, {0x093C, 0x093C}, {0x0E34, 0x0E3A},
                          {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

template <std::size_t n>
bool within(const Range (&ranges)[n], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges), [c](Range range) { return range.first <= c && c <= range.last; });
}

// Bytes of the character that starts with `lead`; 0 where none does.
std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

// Overlong forms, surrogates and numbers beyond Unicode are no characters.
bool is_character(char32_t c, std::size_t bytes) {
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return c >= least[bytes] && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
}

// What would move a cursor, or what XML does not allow.
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c & 0xFFFE) == 0xFFFE; }

std::u32string escaped(char32_t c) {
  if (c == U'\n') return U"\\n";
  if (c == U'\t') return U"\\t";
  if (c == U'\r') return U"\\r";
  return decode_utf8(fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c)));
}

// The longest beginning of `text` that is at most `width` columns wide, in characters.
std::size_t fitting(std::u32string_view text, Index width) {
  std::size_t count = 0;
  Index used = 0;
  while (count < text.size() && used + display_width(text[count]) <= width) used += display_width(text[count++]);
  return count;
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string result;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = length_of(lead);
    char32_t c = bytes < 2 ? lead : lead & (0x7FU >> bytes);
    bool valid = bytes > 0 && bytes <= text.size();
    for (std::size_t i = 1; valid && i < bytes; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      valid = (next & 0xC0U) == 0x80;
      c = c << 6 | (next & 0x3FU);
    }
    valid = valid && is_character(c, bytes);
    result += valid ? c : replacement;
    text.remove_prefix(valid ? bytes : 1);
  }
  return result;
}

std::string encode_utf8(std::u32string_view text) {
  std::string result;
  const auto add = [&result](char32_t byte) { result += static_cast<char>(byte); };
  const auto add_rest = [&add](char32_t c, int shift) { add(0x80 | (c >> shift & 0x3F)); };
  for (const char32_t c : text) {
    if (c < 0x80) {
      add(c);
    } else if (c < 0x800) {
      add(0xC0 | c >> 6), add_rest(c, 0);
    } else if (c < 0x10000) {
      add(0xE0 | c >> 12), add_rest(c, 6), add_rest(c, 0);
    } else {
      add(0xF0 | c >> 18), add_rest(c, 12), add_rest(c, 6), add_rest(c, 0);
    }
  }
  return result;
}

std::u32string visible(std::string_view text) {
  std::u32string result;
  for (const char32_t c : decode_utf8(text)) result += is_control(c) ? escaped(c) : std::u32string(1, c);
  return result;
}

std::u32string visible_ascii(std::string_view text) {
  std::u32string result = visible(text);
  std::replace_if(
      result.begin(), result.end(), [](char32_t c) { return c >= 0x80; }, U'?');
  return result;
}

Index display_width(char32_t character) {
  if (within(zero, character)) return 0;
  return within(wide, character) ? 2 : 1;
}

Index display_width(std::u32string_view text) {
  return std::accumulate(text.begin(), text.end(), Index{0}, [](Index sum, char32_t c) { return sum + display_width(c); });
}

std::vector<std::u32string> letters_of(std::u32string_view text) {
  std::vector<std::u32string> letters;
  for (const char32_t c : text) {
    if (letters.empty() || display_width(c) > 0) letters.emplace_back();
    letters.back() += c;
  }
  return letters;
}

std::u32string shortened(const std::u32string& text, Index width, bool utf8) {
  if (display_width(text) <= width) return text;
  const std::u32string gap = utf8 ? U"…" : U"..";
  const Index kept = std::max<Index>(width - display_width(gap), 0);
  const std::u32string backwards(text.rbegin(), text.rend());
  const std::u32string beginning = text.substr(0, fitting(text, kept - kept / 3));
  const std::u32string end = text.substr(text.size() - fitting(backwards, kept / 3));
  const std::u32string all = beginning + gap + end;
  return all.substr(0, fitting(all, width));
}

std::vector<std::u32string> wrapped(std::u32string_view text, Index width) {
  std::vector<std::u32string> lines;
  while (display_width(text) > width) {
    const std::size_t most = std::max<std::size_t>(fitting(text, width), 1);
    const std::size_t space = text.rfind(U' ', most);
    const bool at_space = space != std::u32string_view::npos && space > 0;
    lines.emplace_back(text.substr(0, at_space ? space : most));
    text.remove_prefix(at_space ? space + 1 : most);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace attn
