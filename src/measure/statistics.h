// Summaries of repeated timings. Robust ones lead (median, half-IQR, MAD): one hiccup must not move them.
//
// Samples are finite and in no particular order; all functions throw UsageError for an empty set.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attn {

// The q-quantile, 0 <= q <= 1, between order statistics by linear interpolation (Hyndman and Fan's type 7, NumPy's default).
double quantile(std::span<const double> samples, double q);

double median(std::span<const double> samples);

double mean(std::span<const double> samples);

// With n - 1 in the denominator; 0 for a single sample.
double standard_deviation(std::span<const double> samples);

struct Summary {
  std::size_t count = 0;
  double median = 0;
  double half_iqr = 0;  // half the distance between the quartiles
  double mean = 0;
  double stddev = 0;
  double min = 0;
  double max = 0;

  // half_iqr / median, the noise by which a measurement is judged; 0 for a median of 0.
  double relative_noise() const { return median != 0 ? half_iqr / median : 0; }
};

Summary summarize(std::span<const double> samples);

// 0.6745 (x - median) / MAD with MAD = median |x - median|; 0.6745 makes it the ordinary Z of normal samples. Where the MAD is 0 (more
// than half of the samples equal), the mean absolute deviation takes its place: (x - median) / (1.253314 MeanAD). All equal: zeros.
// Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993).
std::vector<double> modified_z_scores(std::span<const double> samples);

// Positions of the samples whose |modified Z| exceeds `threshold`; 3.5 is Iglewicz and Hoaglin's advice.
std::vector<std::size_t> outliers(std::span<const double> samples, double threshold = 3.5);

struct MeanEstimate {
  double mean = 0;
  double standard_error = 0;  // stddev / sqrt(n); 0 for a single value
};

MeanEstimate estimate_mean(std::span<const double> values);

// exp of the mean logarithm of positive values. Throws UsageError for others.
double geometric_mean(std::span<const double> values);

}  // namespace attn
