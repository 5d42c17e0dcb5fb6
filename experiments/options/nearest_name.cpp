#include "options/nearest_name.h"

#include <algorithm>

namespace attn {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows[i][j]: edits that turn the first i characters of a into the first j of b.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

namespace {

// How many characters two words share at their beginning and at their end.
std::size_t shared_ends(std::string_view a, std::string_view b) {
  const auto shared = [](auto first, auto last, auto other, auto other_last) {
    return static_cast<std::size_t>(std::mismatch(first, last, other, other_last).first - first);
  };
  return shared(a.begin(), a.end(), b.begin(), b.end()) + shared(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

}  // namespace

std::string nearest_name(std::string_view typed, const std::vector<std::string>& names) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const bool begins = typed.size() >= 2 && name.starts_with(typed);
    const std::size_t distance = begins ? 1 : edit_distance(typed, name);
    const bool as_near = distance == best_distance && !best.empty() && shared_ends(typed, name) > shared_ends(typed, best);
    if (distance >= best_distance && !as_near) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

}  // namespace attn
