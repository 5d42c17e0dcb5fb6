#include "timing/attention_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "verify/oracle.h"
#include "verify/tolerance.h"

namespace attn {
namespace {

constexpr std::uint64_t check_seed = 20170612;  // of the sample that is checked, not of what is timed

// At most this many query rows of a head are compared with the oracle, and this many heads.
constexpr Index checked_rows = 24;
constexpr Index checked_heads = 4;

// Query rows to check: the ends, tile edges of common sizes, and some at random.
std::vector<Index> sample_rows(Index seq_q, std::mt19937_64& generator) {
  std::vector<Index> rows = {0, seq_q - 1};
  for (const Index edge : {8, 16, 64, 96, 128, 192, 256, 512, 1024}) {
    rows.push_back(edge - 1);
    rows.push_back(edge);
  }
  while (static_cast<Index>(rows.size()) < checked_rows)
    rows.push_back(static_cast<Index>(generator() % static_cast<std::uint64_t>(seq_q)));
  std::erase_if(rows, [seq_q](Index row) { return row >= seq_q; });
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

template <class T>
std::string fault_of_head(const AttentionTensors<T>& all, const AttentionOptions<T>& options, Index b, Index h,
                          const std::vector<Index>& rows) {
  const auto expected = oracle_rows(all, options, b, h, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const T* found = all.o.head(b, h).row(rows[r]);
    const std::vector<double> allowed = allowed_differences(all, options, b, h, rows[r], expected[r], tolerance_of<T>());
    for (std::size_t x = 0; x < allowed.size(); ++x) {
      const double difference = std::abs(static_cast<double>(found[x]) - static_cast<double>(expected[r].output[x]));
      if (difference <= allowed[x]) continue;
      return fmt::format("wrong output: batch {}, head {}, row {}, column {}: expected {:.8g}, found {:.8g}, allowed {:.2g}", b, h, rows[r],
                         x, static_cast<double>(expected[r].output[x]), static_cast<double>(found[x]), allowed[x]);
    }
  }
  return {};
}

}  // namespace

template <class T>
std::string attention_fault(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options) {
  const AttentionShape shape = shape_of(tensors);
  std::mt19937_64 generator(check_seed);
  const Index heads = shape.batch * shape.heads;
  for (Index head = 0; head < heads; head += std::max<Index>(1, heads / checked_heads)) {
    const std::string wrong = fault_of_head(tensors, options, head / shape.heads, head % shape.heads, sample_rows(shape.seq_q, generator));
    if (!wrong.empty()) return wrong;
  }
  return {};
}

template std::string attention_fault(const AttentionTensors<float>&, const AttentionOptions<float>&);
template std::string attention_fault(const AttentionTensors<double>&, const AttentionOptions<double>&);

}  // namespace attn
