#include "report/color.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <utility>

#include "machine/error.h"

namespace attn {
namespace {

constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view plain_again = "\x1b[0m";

constexpr std::pair<std::string_view, std::string_view> colors[] = {{"PASS", green},    {"FASTER", green},    {"FAIL", red},
                                                                    {"SLOWER", red},    {"failed", red},      {"error", red},
                                                                    {"UNSURE", yellow}, {"MARGINAL", yellow}, {"skipped", yellow}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string_view color_of(std::string_view word) {
  for (const auto& [known, color] : colors) {
    if (word == known) return color;
  }
  return {};
}

}  // namespace

std::string colored(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && is_letter(text[length]) == is_letter(text[0])) ++length;
    const std::string_view word = text.substr(0, length);
    const std::string_view color = color_of(word);
    result += color;
    result += word;
    if (!color.empty()) result += plain_again;
    text.remove_prefix(length);
  }
  return result;
}

std::string colored(const Line& line) {
  std::string result;
  std::string unstyled;  // neighbours together, so that no word is torn
  for (const Span& span : line) {
    if (span.style.empty()) {
      unstyled += span.text;
      continue;
    }
    result += colored(unstyled);
    unstyled.clear();
    if (!span.text.empty()) result += fmt::format("\x1b[{}m{}{}", span.style, span.text, plain_again);
  }
  return result + colored(unstyled);
}

bool wants_color(std::string_view choice) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  if (choice != "auto") throw UsageError(fmt::format("--color: expected auto, always or never, found '{}'", choice));
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

bool wants_true_color(std::string_view choice) {
  if (choice == "always" || !wants_color(choice)) return choice == "always";
  const char* terminal = std::getenv("COLORTERM");
  const std::string_view has = terminal == nullptr ? "" : terminal;
  return has == "truecolor" || has == "24bit";
}

}  // namespace attn
