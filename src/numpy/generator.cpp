// See generator.h.
#include "numpy/generator.h"

#include <cmath>

#include "machine/error.h"
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

void Generator::fill_random(std::span<double> out, int) {
  for (double& x : out) x = random();
}

void Generator::fill_uniform(std::span<double> out, double low, double high, int) {
  const double range = checked_range(low, high);
  for (double& x : out) x = low + range * random();
}

void Generator::fill_standard_normal(std::span<double> out, int) {
  for (double& x : out) x = standard_normal();
}

void Generator::fill_normal(std::span<double> out, double loc, double scale, int) {
  check_scale(scale);
  for (double& x : out) x = loc + scale * standard_normal();
}

void Generator::advance(uint128 words) {
  bits_.advance(words);
  position_ += words;
}

}  // namespace attn
