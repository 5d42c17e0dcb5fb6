// The two steps of NormalPiece that take vectors: candidates from words, and normals from candidates.
#pragma once

#include <span>

#include "numpy/normal_piece.h"

namespace attn {

// candidates[i]: the normal that raw[i] makes where it is accepted at once, for all `words` words, a multiple of 64.
// The places of those that are refused go to `refused`, rising; returns how many (refused has room for four more). A few are refused
// although the exact test accepts them: the test made here is coarser.
// raw, candidates: 64-byte aligned.
Index find_candidates(const std::uint64_t* raw, Index words, double* candidates, std::uint32_t* refused);

// Writes `count` normals: the candidates from `place` on, without the words that `draws` used up and the candidates that they rejected.
// `draws` are those that begin at `place` or later.
void write_normals(const double* candidates, Index place, std::span<const LongDraw> draws, double* out, Index count);

}  // namespace attn
