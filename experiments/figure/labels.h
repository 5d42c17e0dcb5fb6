// Labels as they can be shown: tokens come from anywhere, and hold line breaks, control characters, or letters two columns wide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

// The characters of UTF-8 text; U+FFFD for bytes that are none.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

// The text on one line: "\n", "\t" and "\x1b" for what would move a cursor, or break XML.
std::u32string visible(std::string_view text);

// The same with '?' for what is not ASCII, where the terminal could not show it.
std::u32string visible_ascii(std::string_view text);

// Columns that a terminal gives a character: 2 for those of East Asia and emoji (Unicode's East_Asian_Width W and F), 0 for combining
// marks, else 1.
Index display_width(char32_t character);
Index display_width(std::u32string_view text);

// Its letters, each with the combining marks that follow it.
std::vector<std::u32string> letters_of(std::u32string_view text);

// At most `width` columns: what is longer keeps its beginning and its end, about "…" or "..".
std::u32string shortened(const std::u32string& text, Index width, bool utf8);

// Lines of at most `width` columns, broken at spaces; a longer word is broken anywhere.
std::vector<std::u32string> wrapped(std::u32string_view text, Index width);

}  // namespace attn
