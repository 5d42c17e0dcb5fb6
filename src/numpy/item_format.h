// How the items of one array are printed, so that they line up: chosen once from all items that will be seen.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "numpy/float_text.h"

namespace attn {

// `text` behind as many blanks as make it `width` wide.
inline std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// Integers are as wide as the widest.
template <class T>
class ItemFormat {
 public:
  ItemFormat(const std::vector<T>& items, bool /*zero_dimensional*/) {
    for (const T item : items) width_ = std::max(width_, std::to_string(item).size());
  }
  std::string operator()(T item) const { return pad_left(std::to_string(item), width_); }

 private:
  std::size_t width_ = 0;
};

// True is as wide as False, also where False does not occur; but not in a 0-d array.
template <>
class ItemFormat<bool> {
 public:
  ItemFormat(const std::vector<bool>& /*items*/, bool zero_dimensional) : width_(zero_dimensional ? 0 : 5) {}
  std::string operator()(bool item) const { return pad_left(item ? "True" : "False", width_); }

 private:
  std::size_t width_;
};

// Floating-point numbers: all with an exponent or none, points below each other, inf and nan at the right edge.
template <class T>
requires std::is_floating_point_v<T>
class ItemFormat<T> {
 public:
  ItemFormat(const std::vector<T>& items, bool /*zero_dimensional*/) {
    std::vector<T> finite;
    std::copy_if(items.begin(), items.end(), std::back_inserter(finite), [](T x) { return std::isfinite(x); });
    exponents_ = needs_exponents(finite);
    for (const T x : finite) measure(x);
    // A column of inf and nan alone is as wide as if it had a point.
    const std::size_t right = exponents_ ? fraction_ + exponent_digits_ + 2 : fraction_;
    width_ = integer_ + 1 + right;
    for (const T x : items) {
      if (!std::isfinite(x)) width_ = std::max(width_, scalar_text(x).size());
    }
  }

  std::string operator()(T x) const {
    if (!std::isfinite(x)) return pad_left(scalar_text(x), width_);
    if (exponents_) return pad_left(padded_scientific_text(x, static_cast<int>(fraction_), static_cast<int>(exponent_digits_)), width_);
    std::string text = positional_text(x, precision);
    // Blanks stand for the zeros that other items have there.
    text.append(fraction_ - (text.size() - text.find('.') - 1), ' ');
    return pad_left(text, width_);
  }

 private:
  static constexpr int precision = 8;

  // NumPy compares in the array's own type: 1e-4F is not below 1e-4.
  static bool needs_exponents(const std::vector<T>& finite) {
    T largest = 0;
    T smallest = std::numeric_limits<T>::infinity();
    for (const T x : finite) {
      if (x == 0) continue;
      largest = std::max(largest, std::abs(x));
      smallest = std::min(smallest, std::abs(x));
    }
    if (largest == 0) return false;
    constexpr T too_large = std::is_same_v<T, float> ? T(1e6) : T(1e8);
    return largest >= too_large || smallest < T(0.0001) || largest / smallest > T(1000);
  }

  // Widens the parts of the column so that x fits.
  void measure(T x) {
    const std::string text = exponents_ ? scientific_text(x, precision) : positional_text(x, precision);
    const std::size_t point = text.find('.');
    const std::size_t e = std::min(text.find('e'), text.size());
    integer_ = std::max(integer_, point);
    fraction_ = std::max(fraction_, e - point - 1);
    if (exponents_) exponent_digits_ = std::max(exponent_digits_, text.size() - e - 2);
  }

  bool exponents_ = false;
  std::size_t integer_ = 0;
  std::size_t fraction_ = 0;
  std::size_t exponent_digits_ = 0;
  std::size_t width_ = 0;
};

}  // namespace attn
