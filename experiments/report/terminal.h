// What the terminal on stdout can show.
#pragma once

#include "matrix/matrix.h"

namespace attn {

// Columns of the terminal; 80 where stdout is none.
Index terminal_columns();

// Whether text is shown as UTF-8, by LC_ALL, LC_CTYPE or LANG, of which the first that is set counts.
bool shows_utf8();

}  // namespace attn
