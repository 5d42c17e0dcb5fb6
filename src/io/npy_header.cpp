#include "io/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "io/member.h"

namespace attn {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t largest_rank = 64;  // NumPy's own limit

constexpr std::pair<Dtype, std::string_view> type_codes[dtype_count] = {
    {Dtype::f16, "f2"}, {Dtype::bf16, "V2"}, {Dtype::f32, "f4"}, {Dtype::f64, "f8"}, {Dtype::boolean, "b1"},
    {Dtype::i8, "i1"},  {Dtype::i16, "i2"},  {Dtype::i32, "i4"}, {Dtype::i64, "i8"}, {Dtype::u8, "u1"},
    {Dtype::u16, "u2"}, {Dtype::u32, "u4"},  {Dtype::u64, "u8"},
};

// Reads the part of Python's literals that headers are made of. Nothing here recurses or allocates more than the text has.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const ByteReader& reader) : text_(text), reader_(reader) {}

  NpyHeader parse() {
    take('{');
    while (!accept('}')) {
      const std::string_view key = string("a key");
      take(':');
      value(key);
      if (!accept(',') && next() != '}') fail("',' or '}'");
    }
    next();
    if (position_ < text_.size()) fail("the end after '}'");
    for (const auto& [key, seen] : seen_) {
      if (!seen) reader_.fail("header", fmt::format("the key '{}'", key), "none");
    }
    return header_;
  }

 private:
  void value(std::string_view key) {
    const auto entry = std::find_if(seen_.begin(), seen_.end(), [key](const auto& known) { return known.first == key; });
    if (entry == seen_.end() || std::exchange(entry->second, true)) {
      reader_.fail("header", "'descr', 'fortran_order' and 'shape' once each", fmt::format("'{}'", printable(key)));
    }
    if (key == "descr") {
      descr();
    } else if (key == "shape") {
      shape();
    } else {
      header_.fortran_order = boolean();
    }
  }

  // '<f8': byte order, kind and bytes of one element.
  void descr() {
    if (next() == '[' || next() == '(') reader_.fail("header: descr", "a plain type such as '<f4'", "a structured one");
    const std::string_view text = string("a type such as '<f4'");
    const bool has_order = !text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos;
    const char order = has_order ? text[0] : '=';
    const std::string_view code = text.substr(has_order ? 1 : 0);
    const auto* const known =
        std::find_if(std::begin(type_codes), std::end(type_codes), [code](const auto& t) { return t.second == code; });
    if (known == std::end(type_codes)) {
      reader_.fail("header: descr", "f2, f4, f8, V2 (bfloat16), b1, or i or u with 1, 2, 4 or 8",
                   fmt::format("'{}'{}", printable(text), code.substr(0, 1) == "O" ? " (Python objects)" : ""));
    }
    header_.dtype = known->first;
    header_.swapped = order == (std::endian::native == std::endian::little ? '>' : '<');
  }

  // (), (5,), (3, 4): a single size needs its comma.
  void shape() {
    take('(');
    while (!accept(')')) {
      header_.shape.push_back(size());
      if (header_.shape.size() > largest_rank) reader_.fail("header: shape", fmt::format("at most {} sizes", largest_rank), "more");
      const bool comma = accept(',');
      if (!comma && (next() != ')' || header_.shape.size() == 1)) fail("','");
    }
  }

  Index size() {
    next();
    Index value = 0;
    const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) fail("a size");
    const std::size_t length = static_cast<std::size_t>(end - text_.data()) - position_;
    if (error != std::errc() || value < 0) {
      reader_.fail("header: shape", "sizes from 0 to 2^63 - 1", printable(text_.substr(position_, length)));
    }
    position_ += length;
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2 wrote 3L
    return value;
  }

  bool boolean() {
    next();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::string_view string(std::string_view what) {
    const char quote = next();
    if (quote != '\'' && quote != '"') fail(what);
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("the end of a string");
    const std::string_view found = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return found;
  }

  // The next character that is no white space, not taken; '\0' at the end.
  char next() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char c) {
    const bool found = next() == c;
    if (found) ++position_;
    return found;
  }

  void take(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string rest = printable(text_.substr(position_, 12));
    reader_.fail("header", expected, rest.empty() ? "the end" : fmt::format("'{}' at byte {}", rest, position_));
  }

  std::string_view text_;
  const ByteReader& reader_;
  std::size_t position_ = 0;
  NpyHeader header_;
  std::array<std::pair<std::string_view, bool>, 3> seen_ = {{{"descr", false}, {"fortran_order", false}, {"shape", false}}};
};

// The length of the header: 2 bytes in version 1.0, else 4.
std::uint32_t read_length(ByteReader& reader, int major) {
  unsigned char bytes[4] = {};
  reader.read(bytes, major == 1 ? 2 : 4, "header's length");
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

}  // namespace

NpyHeader read_npy_header(ByteReader& reader) {
  const std::string start = reader.read_text(std::min<std::uint64_t>(reader.remaining(), magic.size()), "magic");
  if (start != magic) reader.fail("magic", R"(a .npy file, which begins with '\x93NUMPY')", fmt::format("'{}'", printable(start)));
  const std::string version = reader.read_text(2, "version");
  const int major = static_cast<unsigned char>(version[0]);
  const int minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) reader.fail("version", "1.0, 2.0 or 3.0", fmt::format("{}.{}", major, minor));
  const std::string text = reader.read_text(read_length(reader, major), "header");
  return HeaderParser(text, reader).parse();
}

std::string npy_header(Dtype dtype, std::span<const Index> shape) {
  const auto* const code = std::find_if(std::begin(type_codes), std::end(type_codes), [dtype](const auto& t) { return t.first == dtype; });
  const char order = dtype_bytes(dtype) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, code->second, shape_text(shape));
  // Room for the first size to grow to 21 digits in place, then blanks up to a multiple of 64 bytes, at least one.
  if (!shape.empty()) text.append(21 - std::to_string(shape[0]).size(), ' ');
  constexpr std::size_t before = 10;  // magic, version, length
  text.append(64 - (before + text.size() + 1) % 64, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  const char prefix[] = {1, 0, static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  return std::string(magic) + std::string(prefix, sizeof prefix) + text;
}

}  // namespace attn
