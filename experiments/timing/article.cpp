#include "timing/article.h"

#include <algorithm>
#include <cmath>

#include "demo.h"
#include "gemm/gemm.h"
#include "machine/isa_targets.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "measure/clock.h"
#include "measure/growth.h"
#include "measure/resource_usage.h"
#include "report/fingerprint.h"
#include "resume.h"
#include "stream_rows.h"

namespace attn {
namespace {

constexpr int repetitions = 3;

struct ArticleRow {
  Index n = 0;
  Json stream_position;
  Status status = Status::passed;
  std::string reason;
  double time_ns = 0;  // mean over the repetitions
  std::string input_hash;
  std::string output_hash;
  std::size_t peak_bytes = 0;  // of our own allocations: the operand and, for a moment, two results
  std::optional<std::uint64_t> process_peak_bytes;
};

double square(Index n) { return static_cast<double>(n) * static_cast<double>(n); }
double scores_bytes(Index n) { return sizeof(double) * square(n); }
double operand_bytes(Index n, Index d) { return static_cast<double>(sizeof(double)) * static_cast<double>(n) * static_cast<double>(d); }
double flops_of(Index n, Index d) { return 2 * square(n) * static_cast<double>(d); }

// Result, the one before it, and the operand. What overflows is caught by Matrix itself.
std::uint64_t row_bytes(Index n, Index d) { return static_cast<std::uint64_t>(std::min(2 * scores_bytes(n) + operand_bytes(n, d), 9e18)); }

// Times q times its own transpose: (n, d) x (d, n) -> (n, n), a new result every time.
void time_products(const Matrix<double>& q, ArticleRow& row) {
  Matrix<double> scores;
  const std::int64_t start = steady_now_ns();
  for (int i = 0; i < repetitions; ++i) {
    Matrix<double> product(q.rows(), q.rows());
    gemm_nt(1.0, q.view(), q.view(), 0.0, product.view());
    scores = std::move(product);
  }
  row.time_ns = static_cast<double>(steady_now_ns() - start) / repetitions;
  row.output_hash = Fingerprint().add(scores).text();
}

void measure(ArticleRow& row, const ArticleOptions& options, RowStream& stream) {
  require_memory(row_bytes(row.n, options.d), fmt::format("timing-sweep: n = {}", row.n));
  const std::size_t before = allocated_bytes();
  reset_allocation_high_water();
  Matrix<double> q(row.n, options.d);
  stream.generator().fill_normal({q.data(), static_cast<std::size_t>(q.size())}, 0, 1);
  row.input_hash = Fingerprint().add(q).text();
  time_products(q, row);
  row.peak_bytes = allocation_high_water_bytes() - before;
  row.process_peak_bytes = resource_usage().peak_bytes;
}

// What a row is: its parameters, and where in the stream it began.
Row parameters_of(const ArticleRow& row, const ArticleOptions& options) {
  Row record;
  record.exact("algorithm", "scores").exact("dtype", "f64").exact("seq_q", row.n).exact("seq_k", row.n).exact("head_dim", options.d);
  record.exact("protocol", "article").measured("threads", threads()).measured("isa", active_target());
  record.exact("seed", options.seed.text()).exact("stream_position", row.stream_position);
  return record;
}

// True where an earlier run has the row, which is filled in.
bool restore(ArticleRow& row, const ArticleOptions& options, const std::vector<Json>& earlier) {
  const Json* found = find_row(earlier, "timing", parameters_of(row, options));
  if (found == nullptr || !found->contains("samples_ns")) return false;
  row.time_ns = found->at("samples_ns").at(0);
  row.input_hash = found->at("input_hash");
  row.output_hash = found->at("output_hash");
  row.peak_bytes = found->at("peak_bytes");
  row.process_peak_bytes = optional_number<std::uint64_t>(*found, "process_peak_bytes");
  return true;
}

ArticleRow make_row(Index n, const ArticleOptions& options, RowStream& stream, const std::vector<Json>& earlier) {
  ArticleRow row;
  row.n = n;
  row.stream_position = stream.position();
  const double numbers = static_cast<double>(n) * static_cast<double>(options.d);
  if (restore(row, options, earlier)) {
    stream.pass_over(numbers);
    return row;
  }
  if (const auto failure = try_row(stream, numbers, [&] { measure(row, options, stream); })) {
    row.status = failure->status;
    row.reason = failure->reason;
  }
  return row;
}

Row record_of(const ArticleRow& row, const ArticleOptions& options) {
  Row record = parameters_of(row, options);
  record.exact("repro", fmt::format("attn timing-sweep --protocol article --n {} --d {} --seed {} --advance {}", row.n, options.d,
                                    options.seed.text(), advance_text(row.stream_position)));
  record.exact("repetitions", repetitions)
      .exact("bytes", static_cast<std::uint64_t>(scores_bytes(row.n)))
      .exact("flops", flops_of(row.n, options.d));
  record.exact("flops_convention", "2 m n k").exact("bytes_model", operand_bytes(row.n, options.d) + scores_bytes(row.n));
  record.measured("peak_bytes", row.peak_bytes);
  record.measured("process_peak_bytes", row.process_peak_bytes ? Json(*row.process_peak_bytes) : Json());
  record.exact("input_hash", row.input_hash).measured("output_hash", row.output_hash);
  if (row.status == Status::passed) {
    const double time_s = row.time_ns / 1e9;
    record.measured("time_s", {{"mean", time_s}}).measured("time_mean_s", time_s).measured("samples_ns", Json::array({row.time_ns}));
    record.measured("gflops", flops_of(row.n, options.d) / row.time_ns);
  }
  record.exact("status", status_name(row.status)).measured("reason", row.reason.empty() ? Json() : Json(row.reason));
  return record;
}

void add_line(Text& text, const ArticleRow& row) {
  text.line(fmt::format("n={:>5}  scores {}  ", row.n, shape_text(row.n, row.n)));
  if (row.status == Status::passed) {
    text.add(fmt::format("{:>5.0f} MB  ", scores_bytes(row.n) / 1e6));
    text.add(fmt::format("{:5.1f}", row.time_ns / 1e6), Cell::time_ms).add(" ms");
  } else {
    text.add(fmt::format("{}: ", status_name(row.status))).add(row.reason, Cell::measured);
  }
}

Block growth_block(const std::vector<ArticleRow>& rows) {
  Block block{1, "growth", "growth per doubling of n"};
  std::vector<double> n, bytes, time_s;
  for (const ArticleRow& row : rows) {
    if (row.status != Status::passed) continue;
    n.push_back(static_cast<double>(row.n));
    bytes.push_back(scores_bytes(row.n));
    time_s.push_back(row.time_ns / 1e9);
  }
  const auto memory_fit = fit_growth(n, bytes);
  const auto time_fit = fit_growth(n, time_s);
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

std::vector<Block> article_blocks(const ArticleOptions& options, Status& status, const RowHooks& hooks) {
  Block block{1, "timing", "time and memory of the scores"};
  RowStream stream(options.seed, options.advance);
  double total = 0;
  for (const Index n : options.n) total += flops_of(n, options.d);
  double done = 0;
  std::vector<ArticleRow> rows;
  for (const Index n : options.n) {
    if (hooks.next) hooks.next(fmt::format("timing n = {}", n), done, total);
    const ArticleRow& row = rows.emplace_back(make_row(n, options, stream, hooks.earlier));
    add_line(block.text, row);
    block.rows.push_back(record_of(row, options));
    if (row.status != Status::passed) status = row.status;
    if (hooks.finished) hooks.finished(block);
    done += flops_of(n, options.d);
  }
  Block growth = growth_block(rows);
  return {std::move(block), std::move(growth)};
}

}  // namespace attn
