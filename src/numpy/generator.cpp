// See generator.h.
#include "numpy/generator.h"

#include <algorithm>
#include <cmath>

#include "machine/error.h"
#include "machine/threads.h"
#include "matrix/matrix.h"
#include "numpy/normal_fill.h"
#include "numpy/unit_doubles.h"
#include "numpy/ziggurat.h"

namespace attn {
namespace {

double checked_range(double low, double high) {
  const double range = high - low;
  if (!std::isfinite(range)) throw UsageError("uniform: range: expected a finite high - low");
  if (std::signbit(range)) throw UsageError("uniform: range: expected low <= high");
  return range;
}

void check_scale(double scale) {
  if (!std::isnan(scale) && std::signbit(scale)) throw UsageError("normal: scale: expected 0 or more");
}

// Fewer than this are drawn one by one.
constexpr std::size_t few = 256;
// 1 MiB of doubles: still in the L2 cache when they are scaled.
constexpr std::size_t cached_doubles = 131072;
// Parts that threads work on.
constexpr Index part_doubles = 16384;

int team_size(int threads) { return threads > 0 ? threads : attn::threads(); }

Pcg64 advanced(Pcg64 bits, Index words) {
  bits.advance(static_cast<uint128>(words));
  return bits;
}

// body(part, index of the part's first element), for parts of `out` in any order.
template <class Body>
void for_each_part(std::span<double> out, int threads, Body body) {
  const Index size = static_cast<Index>(out.size());
  const Index parts = (size + part_doubles - 1) / part_doubles;
  const int team = static_cast<int>(std::clamp(parts, Index{1}, Index{team_size(threads)}));
#pragma omp parallel for schedule(static) num_threads(team)
  for (Index part = 0; part < parts; ++part) {
    const Index first = part * part_doubles;
    body(out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(part_doubles, size - first))), first);
  }
}

}  // namespace

double Generator::random() { return unit_double(next()); }

double Generator::uniform(double low, double high) {
  const double range = checked_range(low, high);
  return low + range * random();
}

double Generator::standard_normal() {
  return ziggurat_normal([this] { return next(); });
}

double Generator::normal(double loc, double scale) {
  check_scale(scale);
  return loc + scale * standard_normal();
}

void Generator::fill_random(std::span<double> out, int threads) {
  for_each_part(out, threads, [this](std::span<double> part, Index first) { fill_unit_doubles(advanced(bits_, first), part); });
  advance(out.size());
}

void Generator::fill_uniform(std::span<double> out, double low, double high, int threads) {
  const double range = checked_range(low, high);
  for_each_part(out, threads, [&](std::span<double> part, Index first) {
    fill_unit_doubles(advanced(bits_, first), part);
    for (double& x : part) x = low + range * x;
  });
  advance(out.size());
}

void Generator::fill_standard_normal(std::span<double> out, int threads) {
  if (out.size() < few) {
    for (double& x : out) x = standard_normal();
  } else {
    advance(static_cast<uint128>(fill_standard_normals(bits_, out, team_size(threads))));
  }
}

void Generator::fill_normal(std::span<double> out, double loc, double scale, int threads) {
  check_scale(scale);
  while (!out.empty()) {
    const std::span<double> chunk = out.first(std::min(out.size(), cached_doubles));
    fill_standard_normal(chunk, threads);
    for_each_part(chunk, threads, [=](std::span<double> part, Index) {
      for (double& x : part) x = loc + scale * x;
    });
    out = out.subspan(chunk.size());
  }
}

void Generator::advance(uint128 words) {
  bits_.advance(words);
  position_ += words;
}

}  // namespace attn
