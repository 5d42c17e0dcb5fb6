#include "timing/article.h"

#include <cmath>

#include "demo.h"
#include "gemm/gemm.h"
#include "machine/error.h"
#include "machine/memory_limit.h"
#include "measure/clock.h"
#include "measure/growth.h"
#include "stream_rows.h"

namespace attn {
namespace {

constexpr int repetitions = 3;

// Mean time in ns of q times its own transpose: (n, d) x (d, n) -> (n, n), a new result every time.
double article_time_ns(const Matrix<double>& q) {
  Matrix<double> scores;
  const std::int64_t start = steady_now_ns();
  for (int i = 0; i < repetitions; ++i) {
    Matrix<double> product(q.rows(), q.rows());
    gemm_nt(1.0, q.view(), q.view(), 0.0, product.view());
    scores = std::move(product);
  }
  return static_cast<double>(steady_now_ns() - start) / repetitions;
}

struct Measured {
  std::vector<double> n;
  std::vector<double> bytes;
  std::vector<double> time_s;
};

Row begin_row(const RowStream& stream, Index n, const ArticleOptions& options) {
  Row row;
  row.exact("algorithm", "scores").exact("dtype", "f64").exact("seq_q", n).exact("seq_k", n).exact("head_dim", options.d);
  row.exact("protocol", "article").exact("seed", options.seed.text());
  row.exact("stream_position", stream.position());
  const Json position = stream.position();
  row.exact("repro", fmt::format("attn timing-sweep --protocol article --n {} --d {} --seed {} --advance {}", n, options.d,
                                 options.seed.text(), position.is_string() ? position.get<std::string>() : position.dump()));
  return row;
}

std::string line_start(Index n) { return fmt::format("n={:>5}  scores {}  ", n, shape_text(n, n)); }

void add_row(Block& block, RowStream& stream, Index n, const ArticleOptions& options, Measured& measured) {
  Row row = begin_row(stream, n, options);
  Matrix<double> q(n, options.d);
  stream.generator().fill_normal({q.data(), static_cast<std::size_t>(q.size())}, 0, 1);
  const double time_ns = article_time_ns(q);
  const std::uint64_t bytes = static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n) * sizeof(double);
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(options.d);
  block.text.line(line_start(n) + fmt::format("{:>5.0f} MB  ", static_cast<double>(bytes) / 1e6));
  block.text.add(fmt::format("{:5.1f}", time_ns / 1e6), Cell::time_ms).add(" ms");
  row.exact("repetitions", repetitions).exact("bytes", bytes).exact("flops", flops).exact("flops_convention", "2 m n k");
  row.measured("time_s", {{"mean", time_ns / 1e9}}).measured("time_mean_s", time_ns / 1e9).measured("gflops", flops / time_ns);
  row.exact("status", "passed");
  block.rows.push_back(std::move(row));
  measured.n.push_back(static_cast<double>(n));
  measured.bytes.push_back(static_cast<double>(bytes));
  measured.time_s.push_back(time_ns / 1e9);
}

// Result, the one before it, and the operand. Zero where it overflows is caught by Matrix itself.
std::uint64_t row_bytes(Index n, Index d) {
  const double bytes = 8.0 * (2.0 * static_cast<double>(n) * static_cast<double>(n) + static_cast<double>(n) * static_cast<double>(d));
  return bytes < 9e18 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 63;
}

Block growth_block(const Measured& measured) {
  Block block{1, "growth", "growth per doubling of n"};
  const auto memory_fit = fit_growth(measured.n, measured.bytes);
  const auto time_fit = fit_growth(measured.n, measured.time_s);
  if (!memory_fit || !time_fit) {
    block.text.line("per doubling of n: not known from fewer than two sizes");
    return block;
  }
  const double memory = memory_fit->growth_per_doubling;
  const double time = time_fit->growth_per_doubling;
  block.text.line(fmt::format("per doubling of n: memory x{:.4g}, time x", memory)).add(fmt::format("{:.2f}", time), Cell::measured);
  block.figures.line(fmt::format("memory x{:.4g}", memory));
  block.rows.push_back(Row().exact("algorithm", "scores").exact("growth_bytes", memory).measured("growth_time", time));
  return block;
}

}  // namespace

std::vector<Block> article_blocks(const ArticleOptions& options, Status& status, const std::function<void(const Block&)>& finished) {
  Block block{1, "timing", "time and memory of the scores"};
  RowStream stream(options.seed, options.advance);
  Measured measured;
  for (const Index n : options.n) {
    try {
      require_memory(row_bytes(n, options.d), fmt::format("timing-sweep: n = {}", n));
      add_row(block, stream, n, options, measured);
    } catch (const MemoryError& error) {
      block.text.line(line_start(n) + "skipped: ").add(error.what(), Cell::measured);
      block.rows.push_back(begin_row(stream, n, options).exact("status", "skipped").measured("reason", error.what()));
      status = Status::skipped;
      stream.pass_over(static_cast<double>(n) * static_cast<double>(options.d));
    }
    if (finished) finished(block);
  }
  Block growth = growth_block(measured);
  return {std::move(block), std::move(growth)};
}

}  // namespace attn
