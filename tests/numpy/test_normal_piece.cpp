// A piece of the stream knows its draws' places.
#include "numpy/normal_piece.h"

#include <map>

#include "catch.h"
#include "numpy/parse_one_by_one.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

// Every place and every number of normals of a piece that begins with a draw at `first`, against the parse draw by draw.
void check_piece(const Pcg64& bits, Index words, Index first) {
  NormalPiece piece(words);
  piece.parse(bits, words, first);
  Pcg64 from_first = bits;
  from_first.advance(static_cast<uint128>(first));
  const std::vector<PlacedNormal> normals = parse_one_by_one(from_first, piece.normals());
  // Normals before each place where a draw begins; a retry after a rejection is a beginning that these do not show.
  std::map<Index, Index> before;
  Index wrong = 0;
  wrong += piece.place_after(0) != first;
  for (Index i = 0; i < piece.normals(); ++i) {
    const PlacedNormal& normal = normals[static_cast<std::size_t>(i)];
    before[first + normal.begin] = i;
    wrong += piece.place_after(i + 1) != first + normal.end;
    wrong += piece.normals_before(first + normal.begin) != i;
  }
  for (const PlacedNormal& normal : normals) {
    // Two words are a candidate and its height: at that no draw begins.
    if (normal.end - normal.begin == 2) wrong += piece.normals_before(first + normal.end - 1).has_value();
  }
  wrong += piece.normals_before(piece.end()) != piece.normals();
  wrong += piece.normals_before(piece.end() + 1).has_value();
  if (first > 0) wrong += piece.normals_before(first - 1).has_value();
  CHECK(wrong == 0);
  CHECK(piece.end() >= words);
  // Where a draw begins at `words`, the piece ends there.
  if (piece.end() > words) CHECK(!piece.normals_before(words));

  for (const Index skip : {Index{0}, Index{1}, piece.normals() / 2}) {
    if (skip >= piece.normals()) continue;
    const Index count = piece.normals() - skip;
    std::vector<double> out(static_cast<std::size_t>(count + 1), 99.0);
    piece.write(first + normals[static_cast<std::size_t>(skip)].begin, count, out.data());
    wrong = 0;
    for (Index i = 0; i < count; ++i) {
      wrong += out[static_cast<std::size_t>(i)] != normals[static_cast<std::size_t>(skip + i)].value;
    }
    CHECK(wrong == 0);
    CHECK(out.back() == 99.0);
  }
}

}  // namespace

TEST_CASE("a piece's places and normals are those of the parse draw by draw") {
  for_each_target([] {
    for (const Index words : {1, 2, 7, 63, 64, 65, 1023, 1024, 1025, 5000}) {
      for (const Index first : {0, 1, 2, 5, 70, 1024, 1030}) {
        if (first < words) check_piece(Pcg64(Seed(static_cast<std::uint64_t>(words))), words, first);
      }
    }
  });
}

TEST_CASE("a piece ends before a draw that begins at its end") {
  const Pcg64 bits{Seed(0)};
  for (const PlacedNormal& normal : parse_one_by_one(bits, 20'000)) {
    if (normal.end - normal.begin > 1 && normal.begin > 0) check_piece(bits, normal.begin, 0);
    if (normal.begin > 2000) break;
  }
}

TEST_CASE("a piece that the draw before it used up has no draws") {
  for_each_target([] {
    for (const Index first : {3, 4, 2000}) {
      NormalPiece piece(3);
      piece.parse(Pcg64(Seed(1)), 3, first);
      CHECK(piece.normals() == 0);
      CHECK(piece.end() == first);
      CHECK(piece.place_after(0) == first);
    }
  });
}
