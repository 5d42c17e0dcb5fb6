#include "claims/pytorch.h"

#include <algorithm>
#include <cmath>

#include "embedded_files.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "machine/threads.h"
#include "measure/growth.h"
#include "numpy/generator.h"
#include "worked_example.h"

namespace attn {
namespace {

constexpr double stated = 1e-15;
constexpr double part_allowed = 1e-13;

struct Size {
  Index n = 0, d = 0;
};

// Those of data/pytorch/growth.safetensors.
constexpr Size by_length[] = {{16, 64}, {64, 64}, {256, 64}, {1024, 64}, {4096, 64}};
constexpr Size by_width[] = {{256, 8}, {256, 16}, {256, 32}, {256, 64}, {256, 128}, {256, 256}, {256, 512}};

Matrix<double> attended(const Attend<double>& attend, const Matrix<double>& q, const Matrix<double>& k, const Matrix<double>& v,
                        bool causal) {
  Matrix<double> output(q.rows(), v.cols());
  const auto view = [](const Matrix<double>& m) { return TensorView<const double>::from_matrix(m.view()); };
  AttentionOptions<double> options;
  options.causal = causal;
  attend({view(q), view(k), view(v), TensorView<double>::from_matrix(output.view())}, options, nullptr);
  return output;
}

// Over the rows of `expected`; its row r stands for row rows[r] of `found`. NaN counts as infinitely far.
double largest_difference(const Matrix<double>& found, const Matrix<double>& expected, const std::vector<Index>& rows) {
  double largest = 0;
  for (Index r = 0; r < expected.rows(); ++r) {
    for (Index x = 0; x < expected.cols(); ++x) {
      const double difference = std::abs(found(rows[static_cast<std::size_t>(r)], x) - expected(r, x));
      largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
  }
  return largest;
}

PytorchDifference document_1_difference(const Attend<double>& attend, bool causal) {
  const ExampleResult<double> example = run_example(draw_example(1, document_sizes(1), Seed(0)), causal);
  const std::string name = causal ? "pytorch/document1_causal.npy" : "pytorch/document1_full.npy";
  const Matrix<double> expected = read_npy(embedded_file(name), name).to_matrix<double>();
  const Matrix<double> found = attended(attend, example.q, example.k, example.v, causal);
  return {true, example.q.rows(), example.q.cols(), causal, largest_difference(found, expected, {0, 1, 2, 3, 4, 5})};
}

// q, k, v of default_rng([n, d]), as the script drew them.
void add_differences(std::vector<PytorchDifference>& all, const Attend<double>& attend, Size size) {
  Generator generator = default_rng(Seed::list({Seed(static_cast<std::uint64_t>(size.n)), Seed(static_cast<std::uint64_t>(size.d))}));
  Matrix<double> q(size.n, size.d), k(size.n, size.d), v(size.n, size.d);
  for (Matrix<double>* matrix : {&q, &k, &v}) {
    generator.fill_standard_normal({matrix->data(), static_cast<std::size_t>(matrix->size())}, threads());
  }
  const std::vector<Index> rows = {0, size.n / 3, 2 * size.n / 3, size.n - 1};
  constexpr const char* file = "pytorch/growth.safetensors";
  for (const bool causal : {false, true}) {
    const std::string name = fmt::format("n{}_d{}.{}", size.n, size.d, causal ? "causal" : "full");
    const Matrix<double> expected = read_safetensors(embedded_file(file), file, name).to_matrix<double>();
    all.push_back({false, size.n, size.d, causal, largest_difference(attended(attend, q, k, v, causal), expected, rows)});
  }
}

// The exponent of n (or d) in the difference, both masks together: "n^-0.1 (95 %: -0.3 to 0.1)".
template <std::size_t Count>
std::string growth_text(Finding& finding, const std::vector<PytorchDifference>& differences, const Size (&sizes)[Count],
                        const std::string& name) {
  std::vector<double> x, y;
  for (const PytorchDifference& difference : differences) {
    const auto same = [&](const Size& size) { return size.n == difference.n && size.d == difference.d; };
    if (difference.document_1 || std::none_of(std::begin(sizes), std::end(sizes), same)) continue;
    x.push_back(static_cast<double>(name == "n" ? difference.n : difference.d));
    y.push_back(difference.difference);
  }
  const auto fit = fit_growth(x, y);
  if (!fit) return name + " without a fit";
  finding.quantities.push_back({"exponent_of_" + name, Json::object(), fit->exponent, {}, {}, fit->exponent_low, fit->exponent_high});
  return fmt::format("{}^{:.2f} (95 %: {:.2f} to {:.2f})", name, fit->exponent, *fit->exponent_low, *fit->exponent_high);
}

Finding examine_pytorch(const ClaimSettings&) {
  const std::vector<PytorchDifference> differences = measure_pytorch(standard_attend<double>());
  Finding finding;
  double own = 0, others = 0;
  for (const PytorchDifference& difference : differences) {
    (difference.document_1 ? own : others) = std::max(difference.document_1 ? own : others, difference.difference);
    finding.quantities.push_back({"max_difference",
                                  {{"inputs", difference.document_1 ? "document 1" : "normal"},
                                   {"n", difference.n},
                                   {"d", difference.d},
                                   {"causal", difference.causal}},
                                  difference.difference});
  }
  finding.measured =
      fmt::format("largest difference {:.1e} on document 1's example; {:.1e} on n = 16 to 4096, d = 8 to 512, growing as {} and {}", own,
                  others, growth_text(finding, differences, by_length, "n"), growth_text(finding, differences, by_width, "d"));
  finding.judged = judge_pytorch(differences);
  return finding;
}

}  // namespace

std::vector<PytorchDifference> measure_pytorch(const Attend<double>& attend) {
  std::vector<PytorchDifference> all = {document_1_difference(attend, false), document_1_difference(attend, true)};
  for (const Size size : by_length) add_differences(all, attend, size);
  for (const Size size : by_width) {
    if (size.d != by_length[0].d) add_differences(all, attend, size);
  }
  return all;
}

Judged judge_pytorch(const std::vector<PytorchDifference>& differences) {
  const PytorchDifference* worst = nullptr;
  double own = 0;
  for (const PytorchDifference& difference : differences) {
    if (difference.document_1) own = std::max(own, difference.difference);
    if (worst == nullptr || difference.difference > worst->difference) worst = &difference;
  }
  const std::string where =
      fmt::format("{:.1e} at n = {}, d = {}{}", worst->difference, worst->n, worst->d, worst->causal ? ", causal" : "");
  if (worst->difference <= stated) return {ClaimVerdict::holds, "at every size; the largest is " + where};
  if (own <= stated && worst->difference <= part_allowed) return {ClaimVerdict::in_part, "on the article's example, but it is " + where};
  return {ClaimVerdict::does_not_hold, "it is " + where};
}

Claim pytorch_claim() {
  return {
      "pytorch",
      1,
      "the outputs equal PyTorch's within 1e-15",
      "agreement with PyTorch to 1e-15",
      fmt::format("holds: at most {:g} on document 1's example and at every n and d; in part: on the example, and elsewhere within {:g}; "
                  "otherwise it does not hold",
                  stated, part_allowed),
      true,
      1,
      examine_pytorch};
}

}  // namespace attn
