#include "report/compare_text.h"

#include <charconv>
#include <cmath>

namespace attn {
namespace {

// The bound that document 1 states for its difference from PyTorch.
constexpr double largest_rounding_error = 1e-15;

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// What a measured cell's characters fail to be; empty where all is well.
std::string fault(std::string_view text, Cell cell) {
  if (cell == Cell::measured) return {};
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return fmt::format("'{}' is not a number", text);
  if (cell == Cell::time_ms && !(value > 0 && std::isfinite(value))) return fmt::format("the time {} is not positive", text);
  if (cell == Cell::time_ms && text.find('.') != text.size() - 2) return fmt::format("the time {} has not one decimal", text);
  if (cell == Cell::rounding_error && !(value >= 0 && value <= largest_rounding_error)) {
    return fmt::format("{} is above {:.0e}", text, largest_rounding_error);
  }
  return {};
}

struct LineMatch {
  bool same = true;
  std::string reason;
};

// Matches the spans from `index` on with `rest`: a measured span may take any characters that let the exact ones after it match.
LineMatch match(const Line& line, std::size_t index, std::string_view rest, MeasuredCells measured) {
  if (index == line.size()) return {rest.empty(), {}};
  const Span& span = line[index];
  if (span.cell == Cell::exact) {
    if (!rest.starts_with(span.text)) return {false, {}};
    return match(line, index + 1, rest.substr(span.text.size()), measured);
  }
  LineMatch best{false, {}};
  for (std::size_t length = 0; length <= rest.size(); ++length) {
    LineMatch tail = match(line, index + 1, rest.substr(length), measured);
    if (!tail.same) {
      if (best.reason.empty()) best.reason = tail.reason;
      continue;
    }
    if (measured == MeasuredCells::pass_over) return {true, {}};
    const std::string expected_fault = fault(rest.substr(0, length), span.cell);
    const std::string found_fault = fault(span.text, span.cell);
    if (expected_fault.empty() && found_fault.empty()) return {true, {}};
    best.reason = found_fault.empty() ? expected_fault : found_fault;
  }
  return best;
}

}  // namespace

std::optional<TextDifference> compare_text(const Text& found, std::string_view expected, MeasuredCells measured) {
  const std::vector<std::string> lines = split_lines(expected);
  const std::vector<Line>& ours = found.lines();
  TextDifference difference;
  for (std::size_t i = 0; i < std::max(lines.size(), ours.size()); ++i) {
    const bool both = i < lines.size() && i < ours.size();
    const LineMatch result = both ? match(ours[i], 0, lines[i], measured) : LineMatch{false, {}};
    if (result.same) continue;
    if (difference.count++ > 0) continue;
    difference.line = i + 1;
    difference.expected = i < lines.size() ? lines[i] : "(no line)";
    difference.found = i < ours.size() ? plain(ours[i]) : "(no line)";
    difference.reason = result.reason;
  }
  if (difference.count == 0) return std::nullopt;
  return difference;
}

}  // namespace attn
