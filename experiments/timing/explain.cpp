#include "timing/explain.h"

#include <algorithm>
#include <functional>

#include "gemm/gemm.h"
#include "machine/isa_targets.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "measure/ceilings.h"
#include "measure/clock.h"
#include "measure/sampler.h"
#include "numpy/generator.h"
#include "report/fingerprint.h"
#include "timing/time_statistics.h"

namespace attn {
namespace {

// Rows of the triangle that are multiplied at once: enough for the product's full speed, few enough to waste little above the diagonal.
constexpr Index triangle_rows = 256;

using Scores = MatrixView<double>;
using Tokens = MatrixView<const double>;

// The lower triangle of q q^T, block row by block row.
void triangle(Tokens q, Scores scores) {
  for (Index i = 0; i < q.rows(); i += triangle_rows) {
    const Index rows = std::min(triangle_rows, q.rows() - i);
    gemm_nt(1.0, q.block(i, 0, rows, q.cols()), q.block(0, 0, i + rows, q.cols()), 0.0, scores.block(i, 0, rows, i + rows));
  }
}

// Copies the lower triangle into the upper one, one element after another, in one thread, as NumPy does after its SYRK.
void mirror(Scores scores) {
  for (Index i = 0; i < scores.rows(); ++i) {
    for (Index j = i + 1; j < scores.cols(); ++j) scores(i, j) = scores(j, i);
  }
}

Scores as_scores(const Allocation& memory, Index n) { return {static_cast<double*>(memory.get()), n, n}; }

// Multiplications and additions of the whole product, and of triangle() above.
double product_flops(Index n, Index d) { return 2 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(d); }

double triangle_flops(Index n, Index d) {
  double elements = 0;
  for (Index i = 0; i < n; i += triangle_rows) {
    const Index rows = std::min(triangle_rows, n - i);
    elements += static_cast<double>(rows) * static_cast<double>(i + rows);
  }
  return 2 * elements * static_cast<double>(d);
}

struct Part {
  std::string id;
  std::string text;
  double time_s = 0;
  double flops = 0;                     // none where memory alone is at work
  std::vector<double> samples_ns = {};  // empty for what was computed from other parts
};

class Parts {
 public:
  explicit Parts(const ExplainOptions& options)
      : n_(options.n),
        product_(product_flops(n_, options.d)),
        triangle_(triangle_flops(n_, options.d)),
        bytes_(static_cast<std::size_t>(n_ * n_) * sizeof(double)) {
    Generator generator = default_rng(options.seed);
    for (Matrix<double>* operand : {&q_, &k_}) {
      *operand = Matrix<double>(n_, options.d);
      generator.fill_standard_normal({operand->data(), static_cast<std::size_t>(operand->size())}, threads());
    }
    scores_ = Matrix<double>(n_, n_, 0.0);
  }

  std::vector<Part> measure_all() {
    add("article", "as document 1: a fresh result each time, Q with itself", product_, [this](int) {
      Matrix<double> fresh(n_, n_);
      gemm_nt(1.0, q_.view(), q_.view(), 0.0, fresh.view());
    });
    add("arithmetic", "arithmetic: into a result used before, distinct operands", product_, [this](int buffer) {
      gemm_nt(1.0, buffer == 0 ? q_.view() : k_.view(), buffer == 0 ? k_.view() : q_.view(), 0.0, scores_.view());
    });
    add("same_operands", "the same, Q with itself", product_,
        [this](int buffer) { gemm_nt(1.0, (buffer == 0 ? q_ : k_).view(), (buffer == 0 ? q_ : k_).view(), 0.0, scores_.view()); });
    add("triangle", "one triangle only, as SYRK computes it", triangle_, [this](int) { triangle(q_, scores_); });
    add("mirror", "mirroring the triangle element by element, one thread, huge pages", 0, [this](int) { mirror(scores_); });
    const Allocation small_pages = allocate(bytes_, PageSize::small);
    first_touch(small_pages.get(), bytes_);
    add("mirror_small", "the same in 4-KiB pages, whose addresses a walk down columns keeps missing", 0,
        [&](int) { mirror(as_scores(small_pages, n_)); });
    add("first_touch_small", "first touch of a result, 4-KiB pages", 0, [this](int) { touch(PageSize::small); });
    add("first_touch_huge", "first touch of a result, 2-MiB pages where the system gives them", 0, [this](int) { touch(PageSize::huge); });
    add("numpy_like", "NumPy's way as a whole: fresh 4-KiB pages, triangle, mirror, free", triangle_, [this](int) {
      const Allocation memory = allocate(bytes_, PageSize::small);
      triangle(q_, as_scores(memory, n_));
      mirror(as_scores(memory, n_));
    });
    return parts_;
  }

  std::string input_hash() const { return Fingerprint().add(q_).add(k_).text(); }

 private:
  void touch(PageSize pages) const {
    const Allocation memory = allocate(bytes_, pages);
    first_touch(memory.get(), bytes_);
  }

  void add(const std::string& id, const std::string& text, double flops, const std::function<void(int)>& run) {
    SamplerOptions options;
    options.max_time_s = 1;
    const Measurement measurement = measure(TimedBody{id, run}, options);
    parts_.push_back({id, text, measurement.summary->median / 1e9, flops, measurement.samples_ns});
  }

  Index n_;
  double product_, triangle_;  // operations
  std::size_t bytes_;
  Matrix<double> q_, k_;   // (n, d)
  Matrix<double> scores_;  // (n, n)
  std::vector<Part> parts_;
};

double time_of(const std::vector<Part>& parts, const std::string& id) {
  return std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.id == id; })->time_s;
}

Row record_of(const Part& part, const ExplainOptions& options, const std::string& input_hash) {
  Row row;
  row.exact("part", part.id).exact("description", part.text).exact("dtype", "f64").exact("seq_q", options.n).exact("seq_k", options.n);
  row.exact("head_dim", options.d).measured("threads", threads()).measured("isa", active_target());
  row.exact("seed", options.seed.text()).exact("stream_position", 0).exact("input_hash", input_hash);
  row.exact("flops", part.flops).exact("flops_convention", "2 m n k").measured("time_median_s", part.time_s);
  if (!part.samples_ns.empty()) row.measured("time_s", time_statistics(part.samples_ns)).measured("samples_ns", part.samples_ns);
  row.exact("repro", fmt::format("attn timing-sweep --explain --n {} --d {} --seed {}", options.n, options.d, options.seed.text()));
  return row.exact("status", "passed");
}

}  // namespace

Report explain_report(const ExplainOptions& options) {
  const double bytes = static_cast<double>(options.n) * static_cast<double>(options.n) * sizeof(double);
  require_memory(static_cast<std::uint64_t>(std::min(3.2 * bytes, 9e18)), fmt::format("timing-sweep: n = {}", options.n));
  Parts measured(options);
  std::vector<Part> parts = measured.measure_all();
  const double explained = time_of(parts, "triangle") + time_of(parts, "mirror_small") + time_of(parts, "first_touch_small");
  parts.push_back({"explained", "sum of the triangle, and mirror and first touch with 4-KiB pages", explained});
  parts.push_back({"unexplained", "NumPy's way less that sum", time_of(parts, "numpy_like") - explained});

  Report report{"timing-sweep"};
  report.args = {{"explain", true}, {"n", options.n}, {"d", options.d}, {"seed", options.seed.text()}};
  report.tabular = true;
  report.headings = Headings::none;
  Block block{1, "explain", "the parts of document 1's times"};
  block.text.line(fmt::format("n={}, d={}, {:.0f} MB of scores, threads: ", options.n, options.d, bytes / 1e6))
      .add(std::to_string(threads()), Cell::measured);
  for (const Part& part : parts) {
    block.text.line(fmt::format("{:<74} ", part.text)).add(fmt::format("{:8.2f}", part.time_s * 1e3), Cell::measured).add(" ms");
    block.rows.push_back(record_of(part, options, measured.input_hash()));
  }
  report.blocks.push_back(std::move(block));
  return report;
}

}  // namespace attn
