#include "numpy/float_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace attn {
namespace {

// |x| = d.ddd x 10^exponent, and the sign, which -0.0 has too.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

// Longest text of a double with 8 digits behind the point: 309 digits, point and fraction.
constexpr int buffer_size = 512;

// Reads "d.ddde-XX" as std::to_chars writes it.
Decimal decimal_of(std::string_view text, bool negative) {
  const std::size_t e = text.find('e');
  Decimal result{negative, std::string(text.substr(0, 1)), std::atoi(std::string(text.substr(e + 1)).c_str())};
  if (e > 2) result.digits += text.substr(2, e - 2);
  return result;
}

// The fewest digits that read back as x.
template <class T>
Decimal shortest(T x) {
  char buffer[buffer_size];
  const auto end = std::to_chars(buffer, buffer + buffer_size, std::abs(x), std::chars_format::scientific).ptr;
  return decimal_of({buffer, end}, std::signbit(x));
}

// The exact expansion of x, rounded half to even behind 1 + `fraction` digits.
template <class T>
Decimal rounded(T x, int fraction) {
  char buffer[buffer_size];
  const auto end = std::to_chars(buffer, buffer + buffer_size, std::abs(x), std::chars_format::scientific, fraction).ptr;
  return decimal_of({buffer, end}, std::signbit(x));
}

void strip_zeros(std::string& text) { text.erase(text.find_last_not_of('0') + 1); }

std::string sign_of(bool negative) { return negative ? "-" : ""; }

// "d.dddde+XX", the exponent filled with zeros to `exponent_digits`.
std::string scientific_layout(const Decimal& number, int exponent_digits) {
  std::string exponent = std::to_string(std::abs(number.exponent));
  if (static_cast<int>(exponent.size()) < exponent_digits) exponent.insert(0, exponent_digits - exponent.size(), '0');
  return sign_of(number.negative) + number.digits[0] + "." + number.digits.substr(1) + (number.exponent < 0 ? "e-" : "e+") + exponent;
}

// "ddd.ddd": zeros fill the places between the point and the first or last digit.
std::string positional_layout(const Decimal& number) {
  std::string digits = number.digits;
  int point = number.exponent + 1;
  if (point < 1) {
    digits.insert(0, 1 - point, '0');
    point = 1;
  }
  if (static_cast<int>(digits.size()) < point) digits.append(point - digits.size(), '0');
  std::string fraction = digits.substr(point);
  strip_zeros(fraction);
  return sign_of(number.negative) + digits.substr(0, point) + "." + fraction;
}

// Whether the digits of `text` read back as |x|.
template <class T>
bool reads_back(const Decimal& number, T x) {
  const std::string text = scientific_layout({false, number.digits, number.exponent}, 2);
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value == std::abs(x);
}

}  // namespace

template <class T>
std::string positional_text(T x, int max_fraction) {
  const Decimal few = shortest(x);
  if (static_cast<int>(few.digits.size()) - 1 - few.exponent <= max_fraction) return positional_layout(few);
  char buffer[buffer_size];
  const auto end = std::to_chars(buffer, buffer + buffer_size, std::abs(x), std::chars_format::fixed, max_fraction).ptr;
  std::string text(buffer, end);
  strip_zeros(text);
  return sign_of(few.negative) + text;
}

template <class T>
std::string scientific_text(T x, int max_fraction) {
  Decimal number = shortest(x);
  if (static_cast<int>(number.digits.size()) - 1 > max_fraction) number = rounded(x, max_fraction);
  std::string fraction = number.digits.substr(1);
  strip_zeros(fraction);
  number.digits = number.digits[0] + fraction;
  return scientific_layout(number, 2);
}

template <class T>
std::string padded_scientific_text(T x, int fraction, int exponent_digits) {
  const Decimal few = shortest(x);
  Decimal number = rounded(x, fraction);
  // Below a power of two numbers lie twice as close: there the nearest decimal may read back as the neighbour, and NumPy keeps to x.
  if (static_cast<int>(few.digits.size()) - 1 <= fraction && !reads_back(number, x)) {
    number = few;
    number.digits.append(fraction + 1 - few.digits.size(), '0');
  }
  return scientific_layout(number, exponent_digits);
}

template <class T>
std::string scalar_text(T x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  // NumPy compares in long double, so that 1e-4F, a little below 1e-4, has an exponent and 1e-4 has not.
  const long double size = std::abs(static_cast<long double>(x));
  constexpr long double too_large = std::is_same_v<T, float> ? 1e6L : 1e16L;
  if (size == 0 || (size >= 1e-4L && size < too_large)) {
    const std::string text = positional_text(x, all_digits);
    return text.back() == '.' ? text + "0" : text;
  }
  std::string text = scientific_text(x, all_digits);
  if (const std::size_t bare_point = text.find(".e"); bare_point != std::string::npos) text.erase(bare_point, 1);
  return text;
}

template std::string positional_text(float, int);
template std::string positional_text(double, int);
template std::string scientific_text(float, int);
template std::string scientific_text(double, int);
template std::string padded_scientific_text(float, int, int);
template std::string padded_scientific_text(double, int, int);
template std::string scalar_text(float);
template std::string scalar_text(double);

}  // namespace attn
