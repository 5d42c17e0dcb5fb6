#include "verify/judge.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "machine/parallel.h"
#include "machine/threads.h"
#include "verify/judge_row.h"

namespace attn {
namespace {

// Beyond so many (query, key) pairs in all, rows are sampled.
constexpr double most_pairs = 0x1p26;
constexpr Index least_sample = 64;

// What is still open about the known mistakes.
struct MistakeStates {
  std::vector<char> undecided;  // not yet seen to show
  std::vector<char> can_match;  // explains all wrong rows so far
  std::vector<char> made;       // changed a row at all
  std::vector<Match> matches;   // what is known of a match

  template <class T>
  explicit MistakeStates(const std::vector<KnownMistake<T>>& mistakes)
      : undecided(mistakes.size(), 1), can_match(mistakes.size(), 1), made(mistakes.size(), 0) {
    for (const KnownMistake<T>& mistake : mistakes) matches.push_back({mistake.name, {}, 0});
  }

  void merge(const RowVerdict& row, const RowPosition& at, bool first_wrong_row) {
    for (std::size_t m = 0; m < undecided.size(); ++m) {
      const RowVerdict::OfMistake& of_mistake = row.mistakes[m];
      if (of_mistake.made) made[m] = 1;
      if (of_mistake.shows) undecided[m] = 0;
      if (row.beyond == 0) continue;
      if (!of_mistake.matches) can_match[m] = 0;
      if (first_wrong_row) matches[m].first = at;
      matches[m].difference = std::max(matches[m].difference, of_mistake.difference);
    }
  }
};

void merge(Judgement& all, const RowVerdict& row, std::size_t most_elements) {
  all.beyond += row.beyond;
  all.wrong_rows += row.beyond > 0 ? 1 : 0;
  all.from_masked += row.from_masked;
  all.worst.insert(all.worst.end(), row.worst.begin(), row.worst.end());
  keep_worst(all.worst, most_elements);
  if (!all.nan) all.nan = row.nan;
  all.error = std::max(all.error, row.error);
  all.standard_error = std::max(all.standard_error, row.standard_error);
  if (!all.worst.empty()) all.largest_share = all.worst.front().share;
}

template <class T>
void conclude(Judgement& all, const std::vector<KnownMistake<T>>& mistakes, const MistakeStates& states) {
  for (std::size_t m = 0; m < mistakes.size(); ++m) {
    const bool same = !mistakes[m].make;
    if (!same && states.made[m] == 0) continue;  // has nothing to do with these inputs
    using Sight = MistakeVerdict::Sight;
    const Sight sight = same ? Sight::same : states.undecided[m] != 0 ? Sight::blind : Sight::shows;
    all.mistakes.push_back({mistakes[m].name, mistakes[m].hint, sight});
    if (!same && all.beyond > 0 && states.can_match[m] != 0) all.matches.push_back(states.matches[m]);
  }
}

}  // namespace

double Judgement::error_ratio() const {
  const double least = std::max(standard_error, rounding);
  return error == 0 ? 0 : least == 0 ? std::numeric_limits<double>::infinity() : error / least;
}

std::vector<Index> rows_to_judge(const AttentionShape& shape, bool all, std::uint64_t seed) {
  const double pairs_of_row = static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.seq_k);
  std::set<Index> rows;
  if (all || pairs_of_row * static_cast<double>(shape.seq_q) < most_pairs) {
    for (Index i = 0; i < shape.seq_q; ++i) rows.insert(rows.end(), i);
    return {rows.begin(), rows.end()};
  }
  const auto affordable = static_cast<Index>(most_pairs / std::max(pairs_of_row, 1.0));
  const auto wanted = static_cast<std::size_t>(std::min(shape.seq_q, std::max(least_sample, affordable)));
  // Both sides of the edges of tiles of 16 to 1024 rows, from the front and from the back.
  for (Index edge = 0; edge <= 1024; edge = edge == 0 ? 16 : 2 * edge) {
    for (const Index i : {edge - 1, edge, shape.seq_q - edge - 1, shape.seq_q - edge}) {
      if (i >= 0 && i < shape.seq_q) rows.insert(i);
    }
  }
  std::mt19937_64 generator(seed);
  while (rows.size() < wanted) rows.insert(static_cast<Index>(generator() % static_cast<std::uint64_t>(shape.seq_q)));
  return {rows.begin(), rows.end()};
}

template <class T>
Judgement judge(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, const TensorView<const double>& found,
                const std::vector<Index>& rows, const JudgeSettings& settings) {
  const AttentionShape shape = shape_of(tensors);
  check_options(shape, options);
  const std::vector<KnownMistake<T>> mistakes = known_mistakes(shape, options);
  MistakeStates states(mistakes);
  Judgement all;
  const auto rows_per_head = static_cast<Index>(rows.size());
  all.rows = shape.batch * shape.heads * rows_per_head;
  all.elements = all.rows * shape.head_dim_v;
  double largest_expected = 0;
  // In chunks, small ones first: most mistakes are decided by a few rows and then cost nothing more. Their sizes do not depend on the
  // number of threads, and so the result does not either.
  Index chunk = 16;
  for (Index first = 0; first < all.rows; first += chunk, chunk = std::min<Index>(2 * chunk, 512)) {
    const Index count = std::min(chunk, all.rows - first);
    const auto position = [&](Index r) {
      const Index head = (first + r) / rows_per_head;
      return RowPosition{head / shape.heads, head % shape.heads, rows[static_cast<std::size_t>((first + r) % rows_per_head)]};
    };
    std::vector<RowVerdict> verdicts(static_cast<std::size_t>(count));
    parallel_for(count, threads(), [&](Index r) {
      verdicts[static_cast<std::size_t>(r)] =
          judge_row(tensors, shape, options, found, position(r), settings, mistakes, states.undecided, states.can_match);
    });
    for (Index r = 0; r < count; ++r) {
      const RowVerdict& verdict = verdicts[static_cast<std::size_t>(r)];
      states.merge(verdict, position(r), all.wrong_rows == 0);
      merge(all, verdict, settings.most_elements);
      largest_expected = std::max(largest_expected, verdict.largest_expected);
    }
  }
  all.rounding = settings.tolerance.eps_out * largest_expected;
  conclude(all, mistakes, states);
  return all;
}

template Judgement judge(const AttentionTensors<float>&, const AttentionOptions<float>&, const TensorView<const double>&,
                         const std::vector<Index>&, const JudgeSettings&);
template Judgement judge(const AttentionTensors<double>&, const AttentionOptions<double>&, const TensorView<const double>&,
                         const std::vector<Index>&, const JudgeSettings&);

}  // namespace attn
