// See normal_piece.h.
#include "numpy/normal_piece.h"

#include <algorithm>

#include "numpy/ziggurat.h"
#include "numpy/ziggurat_block.h"

namespace attn {

// Candidates are made 64 at a time. Every long draw takes two words or more, and none begins within another.
NormalPiece::NormalPiece(Index max_words) : candidates_(1, max_words + 64) { draws_.reserve(static_cast<std::size_t>(max_words / 2 + 2)); }

void NormalPiece::parse(const Pcg64& bits, Index words, Index first) {
  static constexpr Pcg64Stride unit = pcg64_stride(1, block_words);
  draws_.clear();
  normals_ = 0;
  add(first, first, 0);
  Pcg64 block_start = bits;
  RawWords raw(bits);
  raw.generate(raw_.data(), RawWords::lanes);
  for (Index block_first = 0; block_first < words; block_first += block_words) {
    parse_block(block_start, raw, block_first, std::min(block_words, words - block_first));
    block_start = Pcg64(block_start.state() * unit.factor + unit.offset * bits.increment(), bits.increment());
  }
}

void NormalPiece::parse_block(const Pcg64& block_start, RawWords& raw, Index block_first, Index words) {
  // Vectors take 64 words at a time; what a last block has too many is not looked at.
  const Index whole = (words + 63) / 64 * 64;
  raw.generate(raw_.data() + RawWords::lanes, whole);
  Index refused = find_candidates(raw_.data(), whole, candidates_.data() + block_first, refused_.data());
  while (refused > 0 && refused_[static_cast<std::size_t>(refused - 1)] >= words) --refused;
  make_long_draws(block_start, block_first, refused);
  if (end_ < block_first + words) {
    normals_ += block_first + words - end_;
    end_ = block_first + words;
  }
  std::copy_n(raw_.end() - RawWords::lanes, RawWords::lanes, raw_.begin());
}

void NormalPiece::make_long_draws(const Pcg64& block_start, Index block_first, Index refused) {
  for (Index i = 0; i < refused; ++i) {
    const std::size_t place = refused_[static_cast<std::size_t>(i)];
    const Index begin = block_first + static_cast<Index>(place);
    // Used up by the draw before.
    if (begin < end_) continue;
    const std::uint64_t word = raw_[place];
    const std::size_t layer = ziggurat_layer(word);
    if (ziggurat_magnitude(word) < ziggurat_ki[layer]) continue;
    normals_ += begin - end_;
    if (layer == 0) {
      make_tail_draw(block_start, block_first, place);
    } else {
      add(begin, begin + 2, ziggurat_wedge_accepts(layer, candidates_.data()[begin], raw_[place + 1]) ? 1 : 0);
    }
  }
}

// The tail takes any number of words; it is so rare (one draw in 3700) that a generator of its own may be moved to its place.
void NormalPiece::make_tail_draw(const Pcg64& block_start, Index block_first, std::size_t place) {
  Pcg64 bits = block_start;
  bits.advance(place + 1);
  Index used = 1;
  const auto next = [&] {
    ++used;
    return bits.next();
  };
  const Index begin = block_first + static_cast<Index>(place);
  candidates_.data()[begin] = ziggurat_tail(ziggurat_magnitude(raw_[place]), next);
  add(begin, begin + used, 1);
}

void NormalPiece::add(Index begin, Index end, Index made) {
  normals_ += made;
  end_ = end;
  draws_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(normals_),
                    static_cast<std::uint32_t>(made)});
}

std::optional<Index> NormalPiece::normals_before(Index place) const {
  if (place < draws_.front().end || place > end_) return std::nullopt;
  // The first long draw that ends behind `place`, and the last that does not.
  const auto next = std::partition_point(draws_.begin(), draws_.end(), [place](const LongDraw& draw) { return draw.end <= place; });
  if (next != draws_.end() && next->begin < place) return std::nullopt;
  const LongDraw& before = *(next - 1);
  return before.normals + (place - before.end);
}

Index NormalPiece::place_after(Index count) const {
  if (count == 0) return draws_.front().end;
  // The first long draw until which `count` are made, and the last until which they are not.
  const auto next = std::partition_point(draws_.begin(), draws_.end(), [count](const LongDraw& draw) { return draw.normals < count; });
  const LongDraw& before = *(next - 1);
  const Index place = before.end + (count - before.normals);
  return next != draws_.end() && place > next->begin ? next->end : place;
}

void NormalPiece::write(Index place, Index count, double* out) const {
  const auto next = std::partition_point(draws_.begin() + 1, draws_.end(), [place](const LongDraw& draw) { return draw.begin < place; });
  write_normals(candidates_.data(), place, {next, draws_.end()}, out, count);
}

}  // namespace attn
