// A piece of NumPy's stream of standard normals, parsed from the raw words between two places of the stream.
//
// A draw takes one word in 98.8 % of all cases: the candidate sign * magnitude * wi[layer], accepted by comparing integers. So, block by
// block: 1. raw words are made (RawWords); 2. each becomes a candidate, as if a draw began at it, and the places of those that are not
// accepted so are listed; 3. the draws at those places are made as ziggurat_normal makes them, and remembered. With them a piece that
// began at a guessed place can be joined to those before it; and the normals are the candidates without the words that those draws used
// up, and without those that they rejected.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "numpy/pcg64.h"
#include "numpy/raw_words.h"

namespace attn {

// A draw that took other than one word, or made no normal. Places are counted in words from the start of the piece.
struct LongDraw {
  std::uint32_t begin;
  std::uint32_t end;
  // How many the piece has made before `end`, this draw's included.
  std::uint32_t normals;
  // What this draw made: 1, or 0 for a candidate that was rejected.
  std::uint32_t made;
};

class NormalPiece {
 public:
  // For pieces of up to `max_words` words (below 2^31).
  explicit NormalPiece(Index max_words);

  // Parses the `words` words that `bits` gives next: all draws that begin at a place in [first, words).
  void parse(const Pcg64& bits, Index words, Index first);

  Index normals() const { return normals_; }
  // Where the next draw begins: `words`, or behind it where the last draw took words from behind the piece.
  Index end() const { return end_; }

  // How many normals were made before the draw that begins at `place`; nothing where no draw begins there.
  std::optional<Index> normals_before(Index place) const;
  // The place after the last word of the `count`-th normal; for 0 the place where the first draw began.
  Index place_after(Index count) const;
  // Writes the `count` normals that are made from `place` on, where a draw begins, to out[0..count).
  void write(Index place, Index count, double* out) const;

 private:
  // Words are made and looked at in blocks that stay in half of a 32 KiB L1 cache, the smallest around, beside their candidates.
  static constexpr Index block_words = 1024;

  // The block's first word stands at `block_first` and is what `block_start` gives next.
  void parse_block(const Pcg64& block_start, RawWords& raw, Index block_first, Index words);
  void make_long_draws(const Pcg64& block_start, Index block_first, Index refused);
  void make_tail_draw(const Pcg64& block_start, Index block_first, std::size_t place);
  void add(Index begin, Index end, Index made);

  // [0, lanes) were made with the block before: a draw that begins at the last word takes the next one too.
  alignas(cache_line_bytes) std::array<std::uint64_t, block_words + RawWords::lanes> raw_;
  // Places in the block; four are written at a time.
  std::array<std::uint32_t, block_words + 4> refused_;
  // One per word of the piece.
  Matrix<double> candidates_;
  // The first is no draw: it stands for the place where the piece began.
  std::vector<LongDraw> draws_;
  Index normals_ = 0;
  Index end_ = 0;
};

}  // namespace attn
