// A stream of normals parsed draw by draw, with places: the reference for the code that guesses, jumps and joins.
#pragma once

#include <vector>

#include "matrix/matrix.h"
#include "numpy/pcg64.h"
#include "numpy/ziggurat.h"

namespace attn {

struct PlacedNormal {
  double value;
  // Words from the first that was looked at for it, those of rejected candidates included, to the place behind its last.
  Index begin;
  Index end;
};

// The first `count` normals that `bits` gives.
inline std::vector<PlacedNormal> parse_one_by_one(Pcg64 bits, Index count) {
  std::vector<PlacedNormal> result;
  Index place = 0;
  while (static_cast<Index>(result.size()) < count) {
    const Index begin = place;
    const double value = ziggurat_normal([&] {
      ++place;
      return bits.next();
    });
    result.push_back({value, begin, place});
  }
  return result;
}

}  // namespace attn
