// `attn diff`: how two tensors differ.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "experiment.h"

#include "io/tensor_file.h"
#include "machine/error.h"
#include "options/number_list.h"
#include "options/options.h"
#include "user_tensors/arrangement.h"
#include "user_tensors/tensor_difference.h"

namespace attn {
namespace {

struct DiffOptions {
  std::string a, b;
  std::optional<Index> ulps;
  std::optional<double> rtol, atol;
};

// Row-major position as an index in every dimension.
std::string position_text(Index at, const std::vector<Index>& shape) {
  std::vector<Index> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = at % shape[d];
    at /= shape[d];
  }
  return shape_text(index);
}

std::string bucket_text(std::size_t bucket, std::size_t last) {
  if (bucket == last) return "NaN on one side";
  if (bucket <= 2) return std::to_string(bucket);
  const std::uint64_t lower = std::uint64_t{1} << (bucket - 2);  // bucket 65 ends where 64 bits do
  return fmt::format("{} to {}", lower + 1, bucket < 65 ? 2 * lower : std::numeric_limits<std::uint64_t>::max());
}

void add_histogram(Text& text, const TensorDifference& difference) {
  text.line(fmt::format("{:<28} {:>10}", fmt::format("ulp of {}", dtype_name(difference.dtype)), "elements"));
  const std::size_t last = difference.histogram.size() - 1;
  for (std::size_t n = 0; n <= last; ++n) {
    if (difference.histogram[n] > 0) text.line(fmt::format("{:<28} {:>10}", bucket_text(n, last), difference.histogram[n]));
  }
}

std::string ulps_text(std::uint64_t ulps) { return ulps == unordered ? "NaN" : std::to_string(ulps); }

void add_worst(Text& text, const TensorDifference& difference, const std::vector<Index>& shape) {
  if (difference.worst.empty()) return;
  std::size_t width = 5;
  for (const DifferentElement& e : difference.worst) width = std::max(width, position_text(e.at, shape).size());
  text.line(fmt::format("{:<{}} {:>24} {:>24} {:>10} {:>10}", "worst", width, "A", "B", "difference", "ulp"));
  for (const DifferentElement& e : difference.worst) {
    text.line(fmt::format("{:<{}} {:>24.17g} {:>24.17g} {:>10.2e} {:>10}", position_text(e.at, shape), width, e.a, e.b, std::abs(e.a - e.b),
                          ulps_text(e.ulps)));
  }
}

std::string tensor_text(const NamedTensor& tensor) { return fmt::format("{} {}", named_shape(tensor), dtype_name(tensor.tensor.dtype())); }

Block difference_block(const NamedTensor& a, const NamedTensor& b, const TensorDifference& difference) {
  Block block{0, "diff", "two tensors"};
  const bool passed = difference.beyond == 0;
  block.text.line(fmt::format("{}, {} of {} elements differ by more than allowed, {} are equal", passed ? "PASS" : "FAIL",
                              difference.beyond, difference.elements, difference.equal));
  block.text.line(fmt::format("A {}, B {}", tensor_text(a), tensor_text(b)));
  add_histogram(block.text, difference);
  add_worst(block.text, difference, a.tensor.shape());
  Json worst = Json::array();
  for (const DifferentElement& e : difference.worst) {
    worst.push_back({{"index", position_text(e.at, a.tensor.shape())}, {"a", e.a}, {"b", e.b}, {"ulps", ulps_text(e.ulps)}});
  }
  const std::size_t last = difference.histogram.size() - 1;
  Json histogram = Json::object();
  for (std::size_t n = 0; n <= last; ++n) {
    if (difference.histogram[n] > 0) histogram[bucket_text(n, last)] = difference.histogram[n];
  }
  block.rows.push_back(Row()
                           .exact("a", a.name)
                           .exact("b", b.name)
                           .exact("shape", a.tensor.shape())
                           .exact("elements", difference.elements)
                           .exact("equal", difference.equal)
                           .exact("beyond", difference.beyond)
                           .exact("ulp_dtype", std::string(dtype_name(difference.dtype)))
                           .exact("ulp_histogram", std::move(histogram))
                           .exact("worst", std::move(worst))
                           .exact("status", passed ? "passed" : "failed"));
  return block;
}

Block shapes_block(const NamedTensor& a, const NamedTensor& b) {
  Block block{0, "diff", "two tensors"};
  block.text.line("FAIL, the shapes differ");
  block.text.line(fmt::format("A {}, B {}", tensor_text(a), tensor_text(b)));
  block.rows.push_back(Row()
                           .exact("a", a.name)
                           .exact("b", b.name)
                           .exact("shape_a", a.tensor.shape())
                           .exact("shape_b", b.tensor.shape())
                           .exact("status", "failed")
                           .exact("reason", "the shapes differ"));
  return block;
}

Report diff(const DiffOptions& options) {
  if (options.ulps && (options.rtol || options.atol)) {
    throw UsageError("--ulp: expected it alone or --rtol and --atol, found both");
  }
  const NamedTensor a{options.a, read_tensor(options.a)};
  const NamedTensor b{options.b, read_tensor(options.b)};
  DifferenceSettings settings;
  settings.ulps = static_cast<std::uint64_t>(options.ulps.value_or(0));
  settings.rtol = options.rtol.value_or(0);
  settings.atol = options.atol.value_or(0);
  Report report{"diff"};
  report.tabular = true;
  report.headings = Headings::none;
  report.args = {{"a", options.a}, {"b", options.b}, {"ulp", settings.ulps}, {"rtol", settings.rtol}, {"atol", settings.atol}};
  if (a.tensor.shape() != b.tensor.shape()) {
    report.blocks.push_back(shapes_block(a, b));
    report.status = Status::failed;
    return report;
  }
  const TensorDifference difference = compare_tensors(a.tensor, b.tensor, settings);
  report.blocks.push_back(difference_block(a, b, difference));
  report.status = difference.beyond == 0 ? Status::passed : Status::failed;
  return report;
}

std::optional<double> parse_tolerance(const char* option, const std::string& text) {
  const double value = parse_number(option, text);
  if (value < 0) throw UsageError(fmt::format("{}: expected a number of 0 or more, found '{}'", option, text));
  return value;
}

std::function<Report(Session&)> set_up_diff(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  add_text(app, "A", "FILE", options->a, "A tensor: .npy, .npz#member or .safetensors#tensor").required();
  add_text(app, "B", "FILE", options->b, "The tensor it should be").required();
  add_parsed(
      app, "--ulp", "N", [options](const std::string& text) { options->ulps = parse_size("--ulp", text, 0); },
      "Exit 1 where elements differ by more units in the last place (default: 0)");
  add_parsed(
      app, "--rtol", "X", [options](const std::string& text) { options->rtol = parse_tolerance("--rtol", text); },
      "Exit 1 where |a - b| > atol + rtol |b|");
  add_parsed(
      app, "--atol", "X", [options](const std::string& text) { options->atol = parse_tolerance("--atol", text); }, "See --rtol");
  return [options](Session&) { return diff(*options); };
}

}  // namespace

Experiment diff() { return {"diff", "How two tensors differ, in units in the last place", {}, set_up_diff}; }

}  // namespace attn
