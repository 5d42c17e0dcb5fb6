#include "figure/head_table.h"

#include <algorithm>

namespace attn {

Text head_table(MatrixView<const double> values, Index width) {
  constexpr Index label = 5;   // "layer"
  constexpr Index column = 6;  // " 0.683"
  const Index together = std::max<Index>((width - label) / column, 1);
  Text text;
  for (Index first = 0; first < values.cols(); first += together) {
    const Index end = std::min(first + together, values.cols());
    if (first > 0) text.line();
    text.line("head ");
    for (Index head = first; head < end; ++head) text.add(fmt::format("{:>{}}", head, column));
    for (Index layer = 0; layer < values.rows(); ++layer) {
      text.line(fmt::format("{:>{}}", layer, label));
      for (Index head = first; head < end; ++head) text.add(fmt::format("{:>{}.3f}", values(layer, head), column));
    }
  }
  return text;
}

}  // namespace attn
