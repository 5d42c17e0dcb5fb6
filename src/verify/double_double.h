// DoubleDouble: a number as the unevaluated sum of two doubles, about 106 bits; for machines whose long double is no wider than double.
//
// Sums and products after Dekker, "A Floating-Point Technique for Extending the Available Precision", Numerische Mathematik 18, 1971, and
// Knuth, The Art of Computer Programming, vol. 2, section 4.2.2; exp, log, tanh and sqrt by reduction and series, with Newton's steps.
// Relies on every operation being rounded by itself (no contraction, no -ffast-math).
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace attn {

class DoubleDouble {
 public:
  DoubleDouble() = default;
  template <class T>
  requires std::is_arithmetic_v<T> DoubleDouble(T value) : high_(static_cast<double>(value)) {}

  // high + low, exactly, for |high| >= |low|.
  static DoubleDouble from_parts(double high, double low) {
    DoubleDouble result(high + low);
    if (std::isfinite(result.high_)) result.low_ = low - (result.high_ - high);
    return result;
  }

  double high() const { return high_; }
  double low() const { return low_; }
  explicit operator double() const { return high_; }
  explicit operator float() const { return static_cast<float>(high_); }
  explicit operator long double() const { return static_cast<long double>(high_) + low_; }

  friend DoubleDouble operator-(const DoubleDouble& a) {
    DoubleDouble result(-a.high_);
    result.low_ = -a.low_;
    return result;
  }

  friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const double sum = a.high_ + b.high_;
    if (!std::isfinite(sum)) return sum;
    const double b_part = sum - a.high_;
    const double error = (a.high_ - (sum - b_part)) + (b.high_ - b_part);
    return from_parts(sum, error + (a.low_ + b.low_));
  }
  friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }

  friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const double product = a.high_ * b.high_;
    if (!std::isfinite(product)) return product;
    const double error = std::fma(a.high_, b.high_, -product);
    return from_parts(product, error + (a.high_ * b.low_ + a.low_ * b.high_));
  }

  // Long division, three digits of 53 bits.
  friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high_ / b.high_;
    if (!std::isfinite(first) || !std::isfinite(b.high_)) return first;
    DoubleDouble rest = a - b * first;
    const double second = rest.high_ / b.high_;
    rest = rest - b * second;
    return from_parts(first, second) + rest.high_ / b.high_;
  }

  friend bool operator==(const DoubleDouble& a, const DoubleDouble& b) { return a.high_ == b.high_ && a.low_ == b.low_; }
  friend bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
    return a.high_ < b.high_ || (a.high_ == b.high_ && a.low_ < b.low_);
  }
  friend bool operator>(const DoubleDouble& a, const DoubleDouble& b) { return b < a; }

 private:
  double high_ = 0;
  double low_ = 0;
};

// a * 2^n.
inline DoubleDouble ldexp(const DoubleDouble& a, int n) {
  return DoubleDouble::from_parts(std::ldexp(a.high(), n), std::ldexp(a.low(), n));
}

inline DoubleDouble sqrt(const DoubleDouble& a) {
  const double root = std::sqrt(a.high());
  if (!(root > 0) || std::isinf(root)) return root;
  return DoubleDouble(root) + (a - DoubleDouble(root) * root) / (2 * root);
}

// e^x - 1 for |x| <= 0.01, by its series: 14 terms reach 2^-110.
inline DoubleDouble expm1_series(const DoubleDouble& x) {
  DoubleDouble sum = x / 14;
  for (int k = 13; k >= 1; --k) sum = x / k * (DoubleDouble(1) + sum);
  return sum;
}

// x = n log 2 + 128 r; e^x = 2^n (e^r)^128, squared seven times as (1 + t)^2 - 1 = t (t + 2) so that nothing is lost near 0.
inline DoubleDouble exp(const DoubleDouble& x) {
  if (!(std::abs(x.high()) < 800)) return std::exp(x.high());
  const DoubleDouble log_2 = DoubleDouble::from_parts(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
  const int n = static_cast<int>(std::lround(x.high() / log_2.high()));
  DoubleDouble t = expm1_series(ldexp(x - log_2 * n, -7));
  for (int i = 0; i < 7; ++i) t = t * (t + DoubleDouble(2));
  return ldexp(t + DoubleDouble(1), n);
}

// Newton's step on exp from the double's logarithm: y + (x - e^y) / e^y.
inline DoubleDouble log(const DoubleDouble& x) {
  const double y = std::log(x.high());
  if (!std::isfinite(y)) return y;
  return DoubleDouble(y) + (x * exp(DoubleDouble(-y)) - DoubleDouble(1));
}

inline DoubleDouble tanh(const DoubleDouble& x) {
  if (!(std::abs(x.high()) < 40)) return std::tanh(x.high());
  DoubleDouble t;
  if (std::abs(x.high()) < 0.005) {
    t = expm1_series(x + x);
  } else {
    t = exp(x + x) - DoubleDouble(1);
  }
  return t / (t + DoubleDouble(2));
}

}  // namespace attn

// What generic code asks of a number type.
template <>
class std::numeric_limits<attn::DoubleDouble> : public std::numeric_limits<double> {
 public:
  static constexpr int digits = 106;
  static attn::DoubleDouble infinity() { return std::numeric_limits<double>::infinity(); }
  static attn::DoubleDouble quiet_NaN() { return std::numeric_limits<double>::quiet_NaN(); }
};
