// Random products with their exact-enough answers, laid out to catch reads and writes where there should be none.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "gemm/gemm.h"
#include "gemm/reference.h"
#include "matrix/matrix.h"

namespace attn {

// A type with more digits, in which the reference is computed.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

struct Shape {
  Index m, n, k;
};

// A matrix inside a larger one: `margin` columns of NaN behind every row, and a row of NaN behind the last.
template <class T>
class Framed {
 public:
  Framed(Index rows, Index cols, Index margin)
      : memory_(rows + 1, cols + margin, std::numeric_limits<T>::quiet_NaN()), rows_(rows), cols_(cols) {}

  MatrixView<T> view() { return memory_.view().block(0, 0, rows_, cols_); }

  // Whether the frame still holds NaN only.
  bool frame_untouched() const {
    for (Index i = 0; i <= rows_; ++i) {
      for (Index j = i < rows_ ? cols_ : 0; j < memory_.cols(); ++j) {
        if (!std::isnan(memory_(i, j))) return false;
      }
    }
    return true;
  }

 private:
  Matrix<T> memory_;
  Index rows_;
  Index cols_;
};

template <class T, class Random>
void fill_normal(MatrixView<T> view, Random& random) {
  std::normal_distribution<T> normal;
  for (Index i = 0; i < view.rows(); ++i) {
    for (Index j = 0; j < view.cols(); ++j) view(i, j) = normal(random);
  }
}

template <class To, class From>
Matrix<To> converted(MatrixView<From> from, bool absolute) {
  Matrix<To> to(from.rows(), from.cols());
  for (Index i = 0; i < from.rows(); ++i) {
    for (Index j = 0; j < from.cols(); ++j) to(i, j) = static_cast<To>(absolute ? std::abs(from(i, j)) : from(i, j));
  }
  return to;
}

// Operands, the answer in the wide type, and for every element how far a correct result may be from it.
template <class T>
class Product {
 public:
  Product(Shape shape, bool transposed, T alpha = 1, T beta = 0, Index margin = 3)
      : shape_(shape),
        transposed_(transposed),
        alpha_(alpha),
        beta_(beta),
        margin_(margin),
        a_(shape.m, shape.k, margin),
        b_(transposed ? shape.n : shape.k, transposed ? shape.k : shape.n, margin),
        c_(shape.m, shape.n, margin),
        answer_(shape.m, shape.n),
        bound_(shape.m, shape.n) {
    std::mt19937 random(static_cast<unsigned>(shape.m * 31 + shape.n * 7 + shape.k));
    fill_normal(a_.view(), random);
    fill_normal(b_.view(), random);
    if (beta != T{0}) fill_normal(c_.view(), random);
    solve(false, answer_);
    solve(true, bound_);
    // Sums of k products, alpha, beta and one addition, each rounded: Higham, section 3.1.
    const Wide<T> gamma = static_cast<Wide<T>>(shape.k + 4) * std::numeric_limits<T>::epsilon() / 2;
    for (Index i = 0; i < bound_.size(); ++i) bound_.data()[i] = bound_.data()[i] * gamma * 1.001L;
  }

  // Computes the product into a fresh C (C's old values where beta != 0, else NaN) and returns it.
  Framed<T> compute() {
    Framed<T> c(shape_.m, shape_.n, margin_);
    for (Index i = 0; i < shape_.m; ++i) std::copy_n(c_.view().row(i), shape_.n, c.view().row(i));
    if (transposed_) {
      gemm_nt(alpha_, a_.view(), b_.view(), beta_, c.view());
    } else {
      gemm(alpha_, a_.view(), b_.view(), beta_, c.view());
    }
    return c;
  }

  // Empty if `c` is right, else where and how it is wrong.
  std::string fault(Framed<T>& c) {
    if (!c.frame_untouched()) return "written outside of C";
    for (Index i = 0; i < shape_.m; ++i) {
      for (Index j = 0; j < shape_.n; ++j) {
        const Wide<T> error = std::abs(static_cast<Wide<T>>(c.view()(i, j)) - answer_(i, j));
        if (error <= bound_(i, j)) continue;
        return "C(" + std::to_string(i) + ", " + std::to_string(j) + "): expected " + std::to_string(answer_(i, j)) + ", found " +
               std::to_string(c.view()(i, j));
      }
    }
    return "";
  }

 private:
  // The product of the operands, or of their absolute values, by the plain loops.
  void solve(bool absolute, Matrix<Wide<T>>& result) {
    const Matrix<Wide<T>> a = converted<Wide<T>>(a_.view(), absolute);
    const Matrix<Wide<T>> b = converted<Wide<T>>(b_.view(), absolute);
    if (beta_ != T{0}) result = converted<Wide<T>>(c_.view(), absolute);
    const auto sign_free = [&](T x) { return static_cast<Wide<T>>(absolute ? std::abs(x) : x); };
    reference::gemm<Wide<T>>(sign_free(alpha_), a, b, transposed_, sign_free(beta_), result);
  }

  Shape shape_;
  bool transposed_;
  T alpha_;
  T beta_;
  Index margin_;
  Framed<T> a_;
  Framed<T> b_;
  Framed<T> c_;
  Matrix<Wide<T>> answer_;
  Matrix<Wide<T>> bound_;
};

template <class T>
bool same_bits(MatrixView<T> x, MatrixView<T> y) {
  for (Index i = 0; i < x.rows(); ++i) {
    if (std::memcmp(x.row(i), y.row(i), static_cast<std::size_t>(x.cols()) * sizeof(T)) != 0) return false;
  }
  return true;
}

}  // namespace attn
