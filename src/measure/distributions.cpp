#include "measure/distributions.h"

#include <cmath>
#include <limits>

namespace attn {
namespace {

// The continued fraction of the incomplete beta function I_x(a, b) (A&S 26.5.8), by Lentz's method; converges fast for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300;  // stands for a denominator of 0
  const auto nonzero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const double step = d * c;
    fraction *= step;
    if (std::abs(step - 1) < 1e-15) break;
  }
  return fraction;
}

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

// Beyond this t is normal to 8 digits, and the beta function's arguments lose more than that.
constexpr double normal_degrees = 1e8;

}  // namespace

double student_t_two_sided_p(double t, double degrees) {
  if (degrees >= normal_degrees) return std::erfc(std::abs(t) / std::sqrt(2.0));
  return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double student_t_two_sided_quantile(double p, double degrees) {
  double low = 0;
  double high = 1;
  while (student_t_two_sided_p(high, degrees) > p && high < std::numeric_limits<double>::max() / 2) high *= 2;
  for (int halving = 0; halving < 200 && low < high; ++halving) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (student_t_two_sided_p(middle, degrees) > p ? low : high) = middle;
  }
  return high;
}

// Both raise x by the recurrence until the asymptotic series (A&S 6.3.18, 6.4.12) is exact to double precision.
double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double r = 1 / (x * x);
  return sum + std::log(x) - 1 / (2 * x) - r * (1. / 12 - r * (1. / 120 - r * (1. / 252 - r * (1. / 240 - r * (1. / 132)))));
}

double trigamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum += 1 / (x * x);
  const double r = 1 / (x * x);
  return sum + 1 / x + r / 2 + r / x * (1. / 6 - r * (1. / 30 - r * (1. / 42 - r * (1. / 30 - r * (5. / 66)))));
}

double inverse_trigamma(double y) {
  // trigamma falls steadily from infinity to 0, between 1/x + 1/(2 x^2) and 1/x + 1/x^2: bisect on a logarithmic scale.
  double low = 1e-10;
  double high = 1e10;
  for (int halving = 0; halving < 200; ++halving) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > y ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace attn
