#include "options/number_list.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "machine/error.h"

namespace attn {
namespace {

// A longer list than anybody can mean; guards against 1..9000000000000000000+1.
constexpr std::size_t longest_list = 1'000'000;

[[noreturn]] void refuse(std::string_view option, std::string_view expected, std::string_view text) {
  throw UsageError(fmt::format("{}: expected {}, found '{}'", option, expected, text));
}

// The factor that a suffix stands for; 1 where there is none.
Index take_suffix(std::string_view& digits) {
  if (digits.empty()) return 1;
  const char last = digits.back();
  const Index factor = last == 'k' || last == 'K' ? Index{1} << 10 : last == 'M' ? Index{1} << 20 : 1;
  if (factor > 1) digits.remove_suffix(1);
  return factor;
}

// What follows the second bound of a range: `x10` multiplies, `+2` adds; without either it doubles.
struct Step {
  bool multiplies = true;
  Index amount = 2;
};

Step take_step(std::string_view option, std::string_view& end, std::string_view piece) {
  const std::size_t at = end.find_first_of("x+");
  if (at == std::string_view::npos) return {};
  if (at == 0 || at + 1 == end.size()) refuse(option, "a range such as 512..4096, 4..64x4 or 16..64+16", piece);
  const Step step{end[at] == 'x', parse_size(option, end.substr(at + 1))};
  if (step.multiplies && step.amount < 2) refuse(option, "a range that ends (a factor of 2 or more)", piece);
  end = end.substr(0, at);
  return step;
}

void append_range(std::string_view option, std::string_view piece, std::size_t dots, std::vector<Index>& sizes) {
  std::string_view end_text = piece.substr(dots + 2);
  if (dots == 0 || end_text.empty()) refuse(option, "a range with both ends, such as 512..4096", piece);
  const Step step = take_step(option, end_text, piece);
  const Index first = parse_size(option, piece.substr(0, dots));
  const Index last = parse_size(option, end_text);
  if (first > last) refuse(option, "a range that rises", piece);
  for (Index value = first; value <= last;) {
    if (sizes.size() == longest_list) refuse(option, fmt::format("at most {} sizes", longest_list), piece);
    sizes.push_back(value);
    const bool overflow =
        step.multiplies ? __builtin_mul_overflow(value, step.amount, &value) : __builtin_add_overflow(value, step.amount, &value);
    if (overflow) break;
  }
}

}  // namespace

Index parse_size(std::string_view option, std::string_view text, Index least) {
  std::string_view digits = text;
  const Index factor = take_suffix(digits);
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all_digits = end == digits.data() + digits.size() && !digits.empty() && digits.front() != '-';
  const bool too_large = error == std::errc::result_out_of_range || __builtin_mul_overflow(value, factor, &value);
  if (all_digits && too_large) refuse(option, "a whole number below 2^63", text);
  if (!all_digits || error != std::errc() || value < least) refuse(option, fmt::format("a whole number of {} or more", least), text);
  return value;
}

std::vector<Index> parse_sizes(std::string_view option, std::string_view text) {
  std::vector<Index> sizes;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    if (piece.empty()) refuse(option, "sizes separated by single commas", text);
    const std::size_t dots = piece.find("..");
    if (dots == std::string_view::npos) {
      sizes.push_back(parse_size(option, piece));
    } else {
      append_range(option, piece, dots, sizes);
    }
    if (comma == std::string_view::npos) return sizes;
    rest.remove_prefix(comma + 1);
  }
}

double parse_number(std::string_view option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!whole || !std::isfinite(value)) refuse(option, "a number", text);
  return value;
}

}  // namespace attn
