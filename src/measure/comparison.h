// Did a table of timings change? A verdict per row from the samples themselves, safe against false alarms over the whole table.
//
// Method. The effect of a row is the ratio of medians, new over old.
//   One run per side: is the difference real? The exact rank-sum test (rank_test.h), which holds for every distribution of noise, heavy
//   tails included. How large is it? The bootstrap interval of the ratio of medians (B. Efron, Bootstrap Methods, Ann. Stat. 7, 1979).
//   Several runs on a side: the samples of a run share what differed in that run (addresses, frequency, neighbours), so the run is the
//   unit, and what counts is the mean over runs of the logarithm of each run's median. Test and interval are Student's t, with the variance
//   between runs moderated over the table's rows (run_variance.h) and never below what the samples' own spread gives it. Resampling 2 to 5
//   runs instead gives intervals far too narrow (it loses a factor (runs - 1) / runs of the variance, and knows nothing of t).
// The p-values of all rows are corrected together by Holm's step-down procedure (S. Holm, Scand. J. Stat. 6, 1979): the chance of one or
// more false alarms in a table is at most family_alpha. A change must be significant after that and the row's own interval must exclude 1.
// A bootstrap alone will not do here: the first row of 50 is judged at 0.001, where 20 samples' bootstrap quantiles are not to be trusted.
//
// Limits. With one run per side, what differs from run to run is not seen: two runs of one program may be told apart, rightly. Samples are
// taken as independent; a drift within a run makes the test too eager. With few runs and fewer than ten
// rows Student's t is wide: with three runs a side a lone row needs a change of three standard errors, the first of nine rows six.
//
// Simulated (20 samples a run, 50 rows, at most one of them slower by 10 %; noise of 5 % lognormal, or 3 % with one sample in ten delayed):
// false alarms in 4 % of tables; the slowdown found in 98 % or 95 %. Runs that differ by 2 %: false alarms in 1 to 2 % of tables, the
// slowdown found in 84 to 91 % with three runs a side and in 99 % with five. Runs that differ much more in some rows than in others: false
// alarms in up to 6 % of tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attn {

enum class Verdict { same, faster, slower, unsure };

// "SAME", "FASTER", "SLOWER", "UNSURE"
std::string_view name_of(Verdict verdict);

// The timings of one row, in any unit, one vector per run (file) of each side.
struct RowSamples {
  std::vector<std::vector<double>> old_runs;
  std::vector<std::vector<double>> new_runs;
};

struct ComparisonOptions {
  double family_alpha = 0.04;       // chance of any false alarm in the table: 5 % is promised, the rest is a margin
  double confidence = 0.95;         // of each row's interval
  double same_within = 0.05;        // SAME: the interval lies between 1 / (1 + this) and 1 + this
  std::size_t fewest_samples = 10;  // on each side; below, UNSURE
  int bootstrap_draws = 2000;
  std::uint64_t seed = 1;
};

struct RowComparison {
  Verdict verdict = Verdict::unsure;
  double ratio = 1;       // of medians, new over old: above 1 is slower
  double ratio_low = 1;   // confidence interval of the ratio
  double ratio_high = 1;  //
  double p = 1;           // of the row alone
  double p_holm = 1;      // corrected over the table
  std::size_t old_samples = 0;
  std::size_t new_samples = 0;

  double change_percent() const { return 100 * (ratio - 1); }
};

struct Comparison {
  std::vector<RowComparison> rows;       // as given
  std::optional<double> geometric_mean;  // of the rows' ratios; empty without rows
};

// Rows with fewer than fewest_samples on a side take no part in the correction. A pure function: the same samples and options give the
// same answer. Throws UsageError for a side without samples and for samples that are not positive and finite.
Comparison compare_rows(std::span<const RowSamples> rows, const ComparisonOptions& options = {});

// Holm's corrected p-values, in the same order: compare each with the family's alpha.
std::vector<double> holm_correction(std::span<const double> p);

}  // namespace attn
