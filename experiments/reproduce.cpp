#include "reproduce.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "causal.h"
#include "demo.h"
#include "embedded_files.h"
#include "experiment.h"
#include "io/read_file.h"
#include "machine/error.h"
#include "options/options.h"
#include "report/compare_text.h"
#include "scaling_sweep.h"
#include "timing/article.h"

namespace attn {
namespace {

struct ReproduceOptions {
  bool check = false;
  std::string documents;  // folder; empty: the built-in copies
};

void append(std::vector<Block>& blocks, std::vector<Block> more) { std::move(more.begin(), more.end(), std::back_inserter(blocks)); }

DocumentFiles built_in_documents() {
  return [](const std::string& name) { return std::string(embedded_file("documents/" + name)); };
}

DocumentFiles documents_below(const std::string& folder) {
  return [folder](const std::string& name) { return read_file(folder + "/" + name); };
}

std::string file_name(const Block& block) { return fmt::format("{}-{}.txt", block.document, block.id); }

// The checksum that XXH128SUMS gives for a file, in the form of `xxh128sum`; empty where it names none.
std::string listed_checksum(const std::string& sums, const std::string& name) {
  const std::size_t at = sums.find("  " + name + "\n");
  constexpr std::size_t digits = 32;
  return at == std::string::npos || at < digits ? "" : sums.substr(at - digits, digits);
}

std::string checksum(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string checksum_fault(const std::string& name, const std::string& bytes, const DocumentFiles& files) {
  const std::string listed = listed_checksum(files("XXH128SUMS"), name);
  if (listed.empty()) return fmt::format("XXH128SUMS does not list {}", name);
  if (listed != checksum(bytes)) return fmt::format("{} differs from its checksum in XXH128SUMS", name);
  return {};
}

// Our figures, as many as the document states.
Text leading_figures(const Block& block, const std::string& stated) {
  const auto count = static_cast<std::size_t>(std::count(stated.begin(), stated.end(), '\n'));
  Text leading;
  for (std::size_t i = 0; i < std::min(count, block.figures.lines().size()); ++i) leading.line(plain(block.figures.lines()[i]));
  return leading;
}

// Distance from `value` to the nearest number that lies half-way between two of `decimals` digits.
long double distance_to_boundary(long double value, int decimals) {
  const long double scaled = std::abs(value) * std::pow(10.0L, decimals);
  return std::abs(scaled - std::floor(scaled) - 0.5L) / std::pow(10.0L, decimals);
}

std::string margin_text(const Margin& margin) {
  if (margin.cell.empty()) return "no rounded cells";
  if (std::isinf(margin.multiple)) return "smallest margin: all rounded cells are exact";
  return fmt::format("smallest margin {:.1e} rounding errors ({})", margin.multiple, margin.cell);
}

void check_block(Block& block, const DocumentFiles& files) {
  const std::string fault = disagreement(block, files);
  const Margin margin = smallest_margin(block);
  const std::string name = fmt::format("{}-{}", block.document, block.id);
  Text verdict;
  verdict.line(fmt::format("{}  {:<11}  ", fault.empty() ? "PASS" : "FAIL", name));
  Row row;
  row.exact("status", status_name(fault.empty() ? Status::passed : Status::failed));
  if (fault.empty()) {
    verdict.add(margin_text(margin), Cell::measured);
  } else {
    verdict.add(fault, Cell::measured);
  }
  row.measured("reason", fault.empty() ? Json() : Json(fault));
  row.measured("smallest_margin", margin.cell.empty() ? Json() : Json(margin.multiple)).measured("smallest_margin_cell", margin.cell);
  block.text = verdict;
  block.rows = {row};
  block.arrays.clear();
}

Report run_reproduce(const ReproduceOptions& options) {
  Report report{"reproduce"};
  report.args = {{"check", options.check}, {"documents", options.documents.empty() ? "built in" : options.documents}};
  report.blocks = reproduce_blocks(options.check, report.status);
  if (!options.check) return report;
  report.tabular = true;
  report.headings = Headings::none;
  const DocumentFiles files = options.documents.empty() ? built_in_documents() : documents_below(options.documents);
  for (Block& block : report.blocks) {
    check_block(block, files);
    if (block.rows.front().find("status")->value != "passed") report.status = Status::failed;
  }
  return report;
}

std::function<Report(Session&)> set_up_reproduce(CLI::App& app) {
  const auto options = std::make_shared<ReproduceOptions>();
  const AddedOption check = add_flag(app, "--check", options->check,
                                     "Compare every block with what the documents print: one line each, exit 1 on any difference");
  add_text(app, "--documents", "DIR", options->documents, "Folder with copies of the documents' blocks (default: the built-in ones)")
      .needs(check);
  return [options](Session&) { return run_reproduce(*options); };
}

}  // namespace

std::vector<Block> reproduce_blocks(bool margins, Status& status) {
  const Seed seed;
  std::vector<Block> example = demo_blocks(1, document_sizes(1), seed);
  std::vector<Block> blocks;
  blocks.push_back(std::move(example[0]));
  blocks.push_back(std::move(example[1]));
  append(blocks, causal_blocks(1, seed));
  blocks.push_back(std::move(example[2]));
  blocks.push_back(scaling_block(ScalingOptions{}, margins, status));
  append(blocks, article_blocks(ArticleOptions{}, status));
  append(blocks, demo_blocks(2, document_sizes(2), seed));
  append(blocks, causal_blocks(2, seed));
  return blocks;
}

Margin smallest_margin(const Block& block) {
  Margin smallest;
  for (const RoundedCell& cell : block.rounded) {
    const long double error = std::abs(static_cast<long double>(cell.value) - cell.precise);
    const long double distance = distance_to_boundary(cell.value, cell.decimals);
    const double multiple = error == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(distance / error);
    if (!smallest.cell.empty() && multiple >= smallest.multiple) continue;
    smallest = {multiple, cell.name};
  }
  return smallest;
}

std::string disagreement(const Block& block, const DocumentFiles& files) {
  const std::string name = file_name(block);
  const std::string stated = files(name);
  const bool in_words = !block.figures.lines().empty();
  const Text ours = in_words ? leading_figures(block, stated) : block.text;
  if (const auto difference = compare_text(ours, stated, MeasuredCells::check)) {
    const std::string reason = difference->reason.empty() ? "" : " (" + difference->reason + ")";
    return fmt::format("line {}: expected '{}', found '{}'{}", difference->line, difference->expected, difference->found, reason);
  }
  return checksum_fault(name, stated, files);
}

Experiment reproduce() {
  return {"reproduce", "Every block of both documents; --check compares them with what is printed there", {}, set_up_reproduce};
}

}  // namespace attn
