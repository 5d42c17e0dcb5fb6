#include "scaling/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "machine/threads.h"
#include "report/fingerprint.h"

namespace attn {
namespace {

// Keys are drawn and used in pieces of this many numbers (8 MiB): small beside the memory, large beside what it costs threads to meet.
constexpr Index chunk_numbers = Index{1} << 20;

// What a thread takes of a piece at a time: 64 KiB, which the fingerprint reads from the second-level cache.
constexpr Index block_numbers = Index{1} << 13;

void fill_entries(Generator& generator, std::span<double> out, Entries entries) {
  if (entries == Entries::normal) {
    generator.fill_standard_normal(out, threads());
  } else {
    const double end = std::sqrt(3.0);  // of an interval around 0 with variance 1
    generator.fill_uniform(out, -end, end, threads());
  }
}

// q.k in a fixed order of additions on every machine: eight running sums, as many as the widest vector holds, then their sum.
double dot(const double* q, const double* k, Index d_k) {
  constexpr Index lanes = 8;
  std::array<double, lanes> sums{};
  Index e = 0;
  for (; e + lanes <= d_k; e += lanes) {
    for (Index lane = 0; lane < lanes; ++lane) sums[static_cast<std::size_t>(lane)] += q[e + lane] * k[e + lane];
  }
  for (; e < d_k; ++e) sums[0] += q[e] * k[e];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

long double precise_dot(const double* q, const double* k, Index d_k) {
  long double sum = 0;
  for (Index e = 0; e < d_k; ++e) sum += static_cast<long double>(q[e]) * k[e];
  return sum;
}

// The largest softmax weight of row i of scores / divisor: 1 / sum_j exp((s_j - max) / divisor).
template <class T>
T top_weight(const Matrix<T>& scores, Index i, T divisor) {
  const T* row = scores.view().row(i);
  const T top = *std::max_element(row, row + scores.cols()) / divisor;
  T sum = 0;
  for (Index j = 0; j < scores.cols(); ++j) sum += std::exp(row[j] / divisor - top);
  return 1 / sum;
}

// The mean of that over the rows.
template <class T>
T mean_top_weight(const Matrix<T>& scores, T divisor) {
  T total = 0;
  for (Index i = 0; i < scores.rows(); ++i) total += top_weight(scores, i, divisor);
  return total / static_cast<T>(scores.rows());
}

double top_weight_error(const Matrix<double>& scores, double divisor) {
  std::vector<double> tops;
  for (Index i = 0; i < scores.rows(); ++i) tops.push_back(top_weight(scores, i, divisor));
  return estimate_mean(tops).standard_error;
}

}  // namespace

std::size_t score_bytes(Index d_k, Index trials, Index seq, bool precisely) {
  const double numbers = static_cast<double>(trials) * static_cast<double>(d_k) + static_cast<double>(std::max(chunk_numbers, d_k)) +
                         static_cast<double>(trials) * static_cast<double>(seq) * (precisely ? 3.0 : 1.0);
  return numbers * sizeof(double) < 9e18 ? static_cast<std::size_t>(numbers * sizeof(double)) : std::size_t{1} << 63;
}

DrawnScores draw_scores(Generator& generator, Index d_k, Index trials, Index seq, bool precisely, Entries entries) {
  Fingerprint inputs;
  Matrix<double> q(trials, d_k);
  fill_entries(generator, {q.data(), static_cast<std::size_t>(q.size())}, entries);
  inputs.add(q);
  const Index keys = trials * seq;
  const Index block_rows = std::max(Index{1}, block_numbers / d_k);
  Matrix<double> k(std::min(keys, std::max(Index{1}, chunk_numbers / d_k)), d_k);
  DrawnScores drawn{Matrix<double>(trials, seq), precisely ? Matrix<long double>(trials, seq) : Matrix<long double>(), {}};
  for (Index first = 0; first < keys; first += k.rows()) {
    const Index count = std::min(k.rows(), keys - first);
    fill_entries(generator, {k.data(), static_cast<std::size_t>(count * d_k)}, entries);
    // Fingerprinted in their order, block after block, while the next blocks' products are computed.
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads()) if (count * d_k >= chunk_numbers / 2)
    for (Index begin = 0; begin < count; begin += block_rows) {
      const Index end = std::min(begin + block_rows, count);
      for (Index j = begin; j < end; ++j) {
        const double* query = q.view().row((first + j) / seq);
        drawn.scores.data()[first + j] = dot(query, k.view().row(j), d_k);
        if (precisely) drawn.precise.data()[first + j] = precise_dot(query, k.view().row(j), d_k);
      }
#pragma omp ordered
      inputs.add(k.view().row(begin), static_cast<std::size_t>((end - begin) * d_k) * sizeof(double));
    }
  }
  drawn.input_hash = inputs.text();
  return drawn;
}

template <class T>
ScalingRow<T> scaling_row(const Matrix<T>& scores, Index d_k) {
  const auto count = static_cast<T>(scores.size());
  T sum = 0;
  for (Index i = 0; i < scores.size(); ++i) sum += scores.data()[i];
  const T mean = sum / count;
  T squares = 0;
  for (Index i = 0; i < scores.size(); ++i) squares += (scores.data()[i] - mean) * (scores.data()[i] - mean);
  const T root = std::sqrt(static_cast<T>(d_k));
  return {std::sqrt(squares / count), mean_top_weight(scores, T{1}), mean_top_weight(scores, root)};
}

template ScalingRow<double> scaling_row(const Matrix<double>&, Index);
template ScalingRow<long double> scaling_row(const Matrix<long double>&, Index);

MeanEstimate deviation_of(const Matrix<double>& scores) {
  const double average = mean({scores.data(), static_cast<std::size_t>(scores.size())});
  std::vector<double> squares;  // per trial: one query's scores depend on one another
  for (Index i = 0; i < scores.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < scores.cols(); ++j) sum += (scores(i, j) - average) * (scores(i, j) - average);
    squares.push_back(sum / static_cast<double>(scores.cols()));
  }
  const MeanEstimate variance = estimate_mean(squares);
  const double deviation = std::sqrt(variance.mean);
  return {deviation, deviation > 0 ? variance.standard_error / (2 * deviation) : 0};
}

ScalingRow<double> scaling_errors(const Matrix<double>& scores, Index d_k) {
  const double root = std::sqrt(static_cast<double>(d_k));
  return {deviation_of(scores).standard_error, top_weight_error(scores, 1), top_weight_error(scores, root)};
}

}  // namespace attn
