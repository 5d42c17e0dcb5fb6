// See normal_fill.h.
#include "numpy/normal_fill.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "numpy/normal_piece.h"
#include "numpy/ziggurat.h"

namespace attn {
namespace {

// A thread is worth waking for this many words (about 25 us of work) at least.
constexpr Index min_words_per_thread = 16384;

// Words that suffice for `normals`, hardly ever failing: 1.022 each on average. Too few cost one more round.
Index words_for(Index normals) { return normals + normals / 43 + 64; }

Pcg64 advanced(Pcg64 bits, Index words) {
  bits.advance(static_cast<uint128>(words));
  return bits;
}

// A normal drawn on its own, and the place behind its last word.
struct SingleDraw {
  double normal;
  Index place;
};

// `bits` gives the word at `place` next.
SingleDraw draw_single(Pcg64& bits, Index place) {
  const double normal = ziggurat_normal([&] {
    ++place;
    return bits.next();
  });
  return {normal, place};
}

// A piece that began at a guessed place, and how it joins those before it.
struct JoinedPiece {
  explicit JoinedPiece(Index max_words) : piece(max_words) {}

  NormalPiece piece;
  // The draws up to the first beginning that is right in both parses, which is at `common_place`.
  std::vector<SingleDraw> redone;
  Index common_place = 0;
  // Where in the result its numbers go, and how many.
  Index offset = 0;
  Index count = 0;
};

// Lets the pieces through in their order. OpenMP's `ordered` would do, but its threads may spin while they wait: on a machine that has
// other work, that keeps the very thread from running that they wait for, and every piece takes a time slice.
class Turnstile {
 public:
  template <class Body>
  void in_turn(Index i, Body body) {
    // Usually the wait is shorter than falling asleep and waking up; yielding lets other work have the core meanwhile.
    for (int attempt = 0; attempt < yields && next_.load() != i; ++attempt) std::this_thread::yield();
    for (Index next = next_.load(); next != i; next = next_.load()) next_.wait(next);
    body();
    next_.store(i + 1);
    next_.notify_all();
  }

 private:
  // About 50 us, twice what a piece takes.
  static constexpr int yields = 100;

  std::atomic<Index> next_ = 0;
};

class Filler {
 public:
  Filler(const Pcg64& bits, std::span<double> out) : bits_(bits), out_(out.data()), size_(static_cast<Index>(out.size())) {}

  bool done() const { return made_ == size_; }
  Index place() const { return place_; }

  // Parses about as many words as are missing.
  void fill(int threads, Index max_piece_words);

 private:
  void fill_in_order(Index pieces, Index piece_words);
  void fill_in_parallel(Index pieces, Index piece_words, int threads);
  void join(JoinedPiece& joined, Index piece_start, Index piece_words);
  void write(const JoinedPiece& joined);

  Pcg64 bits_;
  double* out_;
  Index size_;
  // The true parse: so many normals are made, and the next draw begins at this place, in words behind bits_.
  Index made_ = 0;
  Index place_ = 0;
};

void Filler::fill(int threads, Index max_piece_words) {
  const Index words = words_for(size_ - made_);
  const Index team = std::clamp(words / std::min(min_words_per_thread, max_piece_words), Index{1}, Index{threads});
  // As many pieces for each thread.
  const Index rounds = (words + team * max_piece_words - 1) / (team * max_piece_words);
  const Index pieces = team * rounds;
  const Index piece_words = (words + pieces - 1) / pieces;
  if (team == 1) {
    fill_in_order(pieces, piece_words);
  } else {
    fill_in_parallel(pieces, piece_words, static_cast<int>(team));
  }
}

// No guessing: each piece begins where the one before ended.
void Filler::fill_in_order(Index pieces, Index piece_words) {
  NormalPiece piece(piece_words);
  const Index base = place_;
  for (Index i = 0; i < pieces && !done(); ++i) {
    const Index start = base + i * piece_words;
    const Index first = place_ - start;
    piece.parse(advanced(bits_, start), piece_words, first);
    const Index count = std::min(piece.normals(), size_ - made_);
    piece.write(first, count, out_ + made_);
    made_ += count;
    place_ = start + (done() ? piece.place_after(count) : piece.end());
  }
}

void Filler::fill_in_parallel(Index pieces, Index piece_words, int threads) {
  std::vector<std::unique_ptr<JoinedPiece>> of_thread;
  for (int i = 0; i < threads; ++i) of_thread.push_back(std::make_unique<JoinedPiece>(piece_words));
  const Index base = place_;
  Turnstile turnstile;
  // Each thread takes its pieces in order, so the first that is not yet joined is always being worked on.
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (Index i = 0; i < pieces; ++i) {
    JoinedPiece& joined = *of_thread[static_cast<std::size_t>(omp_get_thread_num())];
    const Index start = base + i * piece_words;
    joined.piece.parse(advanced(bits_, start), piece_words, 0);
    turnstile.in_turn(i, [&] { join(joined, start, piece_words); });
    write(joined);
  }
}

// Continues the true parse through the piece: draw by draw, until it meets a beginning that the piece has too.
void Filler::join(JoinedPiece& joined, Index piece_start, Index piece_words) {
  joined.redone.clear();
  joined.offset = made_;
  joined.count = 0;
  if (done()) return;

  const NormalPiece& piece = joined.piece;
  Index place = place_ - piece_start;
  std::optional<Index> before = piece.normals_before(place);
  if (!before && place < piece_words) {
    Pcg64 bits = advanced(bits_, place_);
    while (!before && place < piece_words) {
      joined.redone.push_back(draw_single(bits, place));
      place = joined.redone.back().place;
      before = piece.normals_before(place);
    }
  }
  joined.common_place = place;
  // Without a common beginning the true parse has passed the whole piece by.
  const Index first_right = before.value_or(piece.normals());
  const Index redone = static_cast<Index>(joined.redone.size());
  joined.count = std::min(redone + piece.normals() - first_right, size_ - made_);
  made_ += joined.count;
  if (!done()) {
    place_ = piece_start + (before ? piece.end() : place);
  } else if (joined.count <= redone) {
    place_ = piece_start + joined.redone[static_cast<std::size_t>(joined.count - 1)].place;
  } else {
    place_ = piece_start + piece.place_after(first_right + joined.count - redone);
  }
}

void Filler::write(const JoinedPiece& joined) {
  double* target = out_ + joined.offset;
  const Index redone = std::min(joined.count, static_cast<Index>(joined.redone.size()));
  for (Index i = 0; i < redone; ++i) target[i] = joined.redone[static_cast<std::size_t>(i)].normal;
  if (joined.count > redone) joined.piece.write(joined.common_place, joined.count - redone, target + redone);
}

}  // namespace

Index fill_standard_normals(const Pcg64& bits, std::span<double> out, int threads, Index piece_words) {
  Filler filler(bits, out);
  while (!filler.done()) filler.fill(threads, piece_words);
  return filler.place();
}

}  // namespace attn
