#include "verify/oracle.h"

#include <numeric>
#include <string>

#include "machine/parallel.h"
#include "machine/threads.h"

namespace attn {

template <class T>
std::vector<OracleRow<T>> oracle_rows(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h,
                                      std::span<const Index> rows) {
  const AttentionShape shape = shape_of(tensors);
  check_options(shape, options);
  const auto expect_below = [](const char* name, Index value, Index bound) {
    if (value >= 0 && value < bound) return;
    throw UsageError("oracle: " + std::string(name) + ": expected 0 to " + std::to_string(bound - 1) + ", found " + std::to_string(value));
  };
  expect_below("batch", b, shape.batch);
  expect_below("head", h, shape.heads);
  for (const Index i : rows) expect_below("row", i, shape.seq_q);
  std::vector<OracleRow<T>> results(rows.size());
  parallel_for(static_cast<Index>(rows.size()), threads(), [&](Index r) {
    const auto at = static_cast<std::size_t>(r);
    results[at] = reference_row<OracleType<T>, T>(shape, tensors.q, tensors.k, tensors.v, options, b, h, rows[at]);
  });
  return results;
}

template <class T>
std::vector<OracleRow<T>> oracle_head(const AttentionTensors<T>& tensors, const AttentionOptions<T>& options, Index b, Index h) {
  std::vector<Index> rows(static_cast<std::size_t>(tensors.q.seq));
  std::iota(rows.begin(), rows.end(), Index{0});
  return oracle_rows(tensors, options, b, h, rows);
}

template std::vector<OracleRow<float>> oracle_rows(const AttentionTensors<float>&, const AttentionOptions<float>&, Index, Index,
                                                   std::span<const Index>);
template std::vector<OracleRow<double>> oracle_rows(const AttentionTensors<double>&, const AttentionOptions<double>&, Index, Index,
                                                    std::span<const Index>);
template std::vector<OracleRow<float>> oracle_head(const AttentionTensors<float>&, const AttentionOptions<float>&, Index, Index);
template std::vector<OracleRow<double>> oracle_head(const AttentionTensors<double>&, const AttentionOptions<double>&, Index, Index);

}  // namespace attn
