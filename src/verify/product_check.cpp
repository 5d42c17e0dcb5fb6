#include "verify/product_check.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace attn {
namespace {

template <class T>
using Wide = std::conditional_t<sizeof(T) <= sizeof(float), double, long double>;

template <class W>
std::vector<W> random_signs(Index count, std::mt19937_64& generator) {
  std::vector<W> signs(static_cast<std::size_t>(count));
  for (W& sign : signs) sign = (generator() & 1U) != 0 ? W{1} : W{-1};
  return signs;
}

// M x
template <class T, class W>
std::vector<W> times(MatrixView<const T> m, const std::vector<W>& x) {
  std::vector<W> product(static_cast<std::size_t>(m.rows()));
  for (Index i = 0; i < m.rows(); ++i) {
    W sum = 0;
    for (Index j = 0; j < m.cols(); ++j) sum += static_cast<W>(m(i, j)) * x[static_cast<std::size_t>(j)];
    product[static_cast<std::size_t>(i)] = sum;
  }
  return product;
}

// M^T x
template <class T, class W>
std::vector<W> transposed_times(MatrixView<const T> m, const std::vector<W>& x) {
  std::vector<W> product(static_cast<std::size_t>(m.cols()));
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) product[static_cast<std::size_t>(j)] += static_cast<W>(m(i, j)) * x[static_cast<std::size_t>(i)];
  }
  return product;
}

template <class T>
double norm_of_row(MatrixView<const T> m, Index i) {
  double squares = 0;
  for (Index j = 0; j < m.cols(); ++j) squares += static_cast<double>(m(i, j)) * static_cast<double>(m(i, j));
  return std::sqrt(squares);
}

template <class T>
double frobenius_norm(MatrixView<const T> m) {
  double squares = 0;
  for (Index i = 0; i < m.rows(); ++i) squares += std::pow(norm_of_row(m, i), 2);
  return std::sqrt(squares);
}

}  // namespace

template <class T>
std::optional<WrongProduct> check_product(MatrixView<const T> a, MatrixView<const T> b, bool b_transposed, MatrixView<const T> c,
                                          std::uint64_t seed, int vectors) {
  using W = Wide<T>;
  std::mt19937_64 generator(seed);
  const double eps = std::numeric_limits<T>::epsilon() / 2;
  const double factor = 16 * eps * std::sqrt(static_cast<double>(a.cols())) * frobenius_norm(b);
  std::optional<WrongProduct> worst;
  for (int vector = 0; vector < vectors; ++vector) {
    const std::vector<W> x = random_signs<W>(c.cols(), generator);
    const std::vector<W> expected = times(a, b_transposed ? transposed_times(b, x) : times(b, x));
    const std::vector<W> found = times(c, x);
    for (Index i = 0; i < c.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double difference = static_cast<double>(std::abs(found[at] - expected[at]));
      const double allowed = factor * norm_of_row(a, i);
      const bool as_undefined = std::isnan(expected[at]) && std::isnan(found[at]);
      if (difference <= allowed || as_undefined) continue;
      if (!worst || !(difference - allowed <= worst->difference - worst->allowed)) worst = WrongProduct{i, difference, allowed};
    }
  }
  return worst;
}

template std::optional<WrongProduct> check_product(MatrixView<const float>, MatrixView<const float>, bool, MatrixView<const float>,
                                                   std::uint64_t, int);
template std::optional<WrongProduct> check_product(MatrixView<const double>, MatrixView<const double>, bool, MatrixView<const double>,
                                                   std::uint64_t, int);

}  // namespace attn
