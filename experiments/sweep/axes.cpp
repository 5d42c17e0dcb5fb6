#include "sweep/axes.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

namespace attn {

std::vector<std::vector<Index>> combinations(const std::vector<Axis>& axes, const CLI::App* app) {
  const std::vector<CLI::Option*> named = app == nullptr ? std::vector<CLI::Option*>() : app->parse_order();
  const auto place = [&](std::size_t axis) {
    const auto at = std::find(named.begin(), named.end(), axes[axis].option.get());
    return at == named.end() ? -1 : static_cast<int>(at - named.begin());
  };
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });

  std::vector<std::vector<Index>> all = {std::vector<Index>(axes.size())};
  for (const std::size_t axis : order) {
    std::vector<std::vector<Index>> longer;
    for (const std::vector<Index>& combination : all) {
      for (const Index value : axes[axis].values) {
        longer.push_back(combination);
        longer.back()[axis] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace attn
