// A transformer layer by its definition, in float64, one number after the other: what the library's is compared with.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "transformer/layer.h"

namespace attn {

template <class T>
Matrix<T> random_matrix(Index rows, Index cols, std::uint64_t seed, double spread = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, spread);
  Matrix<T> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<T>(normal(random));
  return m;
}

// Weights as the experiments draw them: normals over the root of d_model, so that projections have the tokens' size.
template <class T>
AttentionWeights<T> random_weights(Index d_model, std::uint64_t seed) {
  const double spread = 1 / std::sqrt(static_cast<double>(d_model));
  return {random_matrix<T>(d_model, d_model, seed, spread), random_matrix<T>(d_model, d_model, seed + 1, spread),
          random_matrix<T>(d_model, d_model, seed + 2, spread), random_matrix<T>(d_model, d_model, seed + 3, spread)};
}

namespace plain_layer {

template <class T, class U>
Matrix<double> product(MatrixView<const T> a, MatrixView<const U> b) {
  Matrix<double> c(a.rows(), b.cols(), 0.0);
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.cols(); ++j) {
      for (Index p = 0; p < a.cols(); ++p) c(i, j) += static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
    }
  }
  return c;
}

// o of all heads; query i sees the keys up to i + n_k - n_q, or all.
template <class T>
Matrix<double> attention(Index heads, bool causal, MatrixView<const T> q, MatrixView<const T> k, MatrixView<const T> v) {
  const Index head_dim = q.cols() / heads;
  Matrix<double> o(q.rows(), v.cols(), 0.0);
  for (Index h = 0; h < heads; ++h) {
    const Index first = h * head_dim;
    for (Index i = 0; i < q.rows(); ++i) {
      const Index keys = causal ? i + k.rows() - q.rows() + 1 : k.rows();
      std::vector<double> weights;
      double sum = 0;
      for (Index j = 0; j < keys; ++j) {
        double score = 0;
        for (Index x = first; x < first + head_dim; ++x) score += static_cast<double>(q(i, x)) * static_cast<double>(k(j, x));
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head_dim))));
        sum += weights.back();
      }
      for (Index j = 0; j < keys; ++j) {
        for (Index x = first; x < first + head_dim; ++x)
          o(i, x) += weights[static_cast<std::size_t>(j)] / sum * static_cast<double>(v(j, x));
      }
    }
  }
  return o;
}

// Causal attention between its projections: x (n, d_model) to y (n, d_model).
template <class T>
Matrix<double> attention_layer(const AttentionWeights<T>& w, Index heads, MatrixView<const T> x) {
  const Matrix<double> q = product(x, w.q.view());
  const Matrix<double> k = product(x, w.k.view());
  const Matrix<double> v = product(x, w.v.view());
  const Matrix<double> o = attention(heads, true, q.view(), k.view(), v.view());
  return product(o.view(), w.o.view());
}

inline double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))); }

}  // namespace plain_layer

// Largest |a - b|; NaN where there is one.
template <class T>
double largest_difference(MatrixView<const T> a, MatrixView<const double> b) {
  double largest = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      const double difference = std::abs(static_cast<double>(a(i, j)) - b(i, j));
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

}  // namespace attn
