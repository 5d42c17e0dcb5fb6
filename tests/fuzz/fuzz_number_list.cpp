// Any text as a size, a list of sizes, a number, a seed or a position in the stream: what is accepted reads the same when it is written out
// and read again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>

#include "fuzz/read_or_refuse.h"
#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"
#include "options/number_list.h"

namespace {

void check_sizes(std::string_view text) {
  const std::vector<attn::Index> sizes = attn::parse_sizes("--fuzz", text);
  if (sizes.empty()) std::abort();
  for (const attn::Index size : sizes) {
    if (size < 1) std::abort();
  }
  // A long list would only be slow.
  if (sizes.size() < 100 && attn::parse_sizes("--fuzz", fmt::format("{}", fmt::join(sizes, ","))) != sizes) std::abort();
}

void check_number(std::string_view text) {
  const double number = attn::parse_number("--fuzz", text);
  if (!std::isfinite(number) || attn::parse_number("--fuzz", fmt::format("{}", number)) != number) std::abort();
}

void check_size(std::string_view text) {
  const attn::Index size = attn::parse_size("--fuzz", text, 0);
  if (size < 0 || attn::parse_size("--fuzz", std::to_string(size), 0) != size) std::abort();
}

void check_seed(std::string_view text) {
  const attn::Seed seed = attn::Seed::parse(text);
  if (seed != attn::Seed::parse(seed.text()) || seed.words().empty()) std::abort();
}

void check_position(std::string_view text) {
  const attn::uint128 position = attn::parse_uint128(text, "--fuzz");
  if (attn::parse_uint128(attn::to_string(position), "--fuzz") != position) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Lists live outside the counted allocations; errors quote the text, which may hold line breaks that a command line cannot.
  if (text.find('\n') != std::string_view::npos) return -1;
  for (const auto check : {check_sizes, check_number, check_size, check_seed, check_position}) attn::read_or_refuse(data, size, 0, check);
  return 0;
}
