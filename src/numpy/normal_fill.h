// Standard normals by the million, from as many threads as there are, and bit for bit those that one after another would give.
//
// Where a draw begins depends on all draws before it, since one takes one word or several. But a stream of words can be jumped, and a
// parse begun at a wrong place soon falls into step with the right one: as soon as a draw of both begins at the same word, all later ones
// do. So the words are cut into pieces of equal length; each is parsed as if a draw began at its first word, which is so for all but one
// piece in a hundred; then, in the order of the pieces, the draws from where the piece before really ended up to the first common beginning
// are made anew. That also says how many normals there are before the piece, and so where its own belong.
#pragma once

#include <span>

#include "matrix/matrix.h"
#include "numpy/pcg64.h"

namespace attn {

// Words per piece: 128 KiB of normals wait in the L2 cache for their place, and joining two pieces takes 1 % of the time or less.
inline constexpr Index normal_piece_words = 16384;

// out[i]: what the i-th call of Generator(bits).standard_normal() would give. Returns how many words were used.
// The result does not depend on `threads` (1 or more), nor on `piece_words`.
Index fill_standard_normals(const Pcg64& bits, std::span<double> out, int threads, Index piece_words = normal_piece_words);

}  // namespace attn
