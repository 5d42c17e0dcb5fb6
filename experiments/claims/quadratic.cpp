#include "claims/quadratic.h"

#include <algorithm>
#include <cmath>

#include "machine/threads.h"
#include "measure/ceilings.h"
#include "measure/statistics.h"
#include "timing/article.h"

namespace attn {
namespace {

// quadratic
constexpr double memory_factor = 4, memory_allowed = 0.01;         // relative
constexpr double least_time_factor = 3.5, most_time_factor = 5.5;  // what rounds to 4 or 5

// heads: exponents that count as linear
constexpr double least_exponent = 0.9, most_exponent = 1.1;

constexpr Index width = 64;

struct Series {
  std::vector<double> sizes, time_s, bytes;
};

// Document 1's table, `rounds` times.
Series article_series(int rounds, const std::vector<Index>& n, const Seed& seed, Finding& finding) {
  Series series;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Block> blocks = article_blocks({n, width, seed}, finding.status);
    for (const Row& row : blocks.front().rows) {
      const Field* time = row.find("time_mean_s");
      if (time == nullptr) continue;  // did not fit into memory
      series.sizes.push_back(row.find("seq_q")->value.get<double>());
      series.bytes.push_back(row.find("bytes")->value.get<double>());
      series.time_s.push_back(time->value.get<double>());
      finding.quantities.push_back(
          {"time_s", {{"protocol", "article"}, {"n", row.find("seq_q")->value}, {"round", round}}, series.time_s.back()});
    }
  }
  return series;
}

Series steady_series(const std::vector<SteadyRow>& rows, bool by_heads, Finding& finding) {
  Series series;
  for (const SteadyRow& row : rows) {
    series.sizes.push_back(static_cast<double>(by_heads ? row.point.heads : row.point.n));
    series.time_s.push_back(row.median_s());
    series.bytes.push_back(static_cast<double>(row.peak_bytes));
    finding.quantities.push_back(time_quantity(row));
    finding.quantities.push_back({"peak_bytes", row_place(row), static_cast<double>(row.peak_bytes)});
  }
  return series;
}

// What the first touch of an n x n result takes, on pages as `attn` asks for them, all threads touching.
double first_touch_s(Index n) {
  const double bytes = static_cast<double>(n) * static_cast<double>(n) * sizeof(double);
  constexpr double page = 4096;
  return measure_first_touch(static_cast<std::size_t>(bytes), PageSize::huge, threads()).ns_per_4k * bytes / page / 1e9;
}

double factor(double exponent) { return std::exp2(exponent); }

std::string factor_text(const FittedExponent& fit) {
  return fmt::format("x{:.2f} (95 %: {:.2f} to {:.2f})", factor(fit.exponent), factor(fit.low), factor(fit.high));
}

Quantity factor_quantity(const char* protocol, const FittedExponent& fit) {
  return {"growth_time", {{"protocol", protocol}}, factor(fit.exponent), {}, {}, factor(fit.low), factor(fit.high)};
}

double median_at(const Series& series, double size) {
  std::vector<double> times;
  for (std::size_t i = 0; i < series.sizes.size(); ++i) {
    if (series.sizes[i] == size) times.push_back(series.time_s[i]);
  }
  return median(times);
}

Finding examine_quadratic(const ClaimSettings& settings) {
  Finding finding;
  const Index largest = settings.quick ? 2048 : 4096;
  std::vector<Index> doubling;
  TimedRequest request{{}, {Work::scores}};
  request.max_time_s = settings.quick ? 0.2 : 1;
  for (Index n = settings.quick ? 256 : 512; n <= largest; n *= 2) {
    doubling.push_back(n);
    request.points.push_back(square_point(n, width, Precision::f64));
    if (n < largest) request.points.push_back(square_point(n + n / 2, width, Precision::f64));
  }
  const Series article = article_series(settings.quick ? 3 : 10, doubling, settings.seed, finding);
  const Series steady = steady_series(time_rows(request, settings.seed, finding), false, finding);
  const double touch_s = first_touch_s(largest);
  const double article_s = median_at(article, static_cast<double>(largest));
  const QuadraticNumbers numbers{factor(fit_growth(article.sizes, article.bytes)->exponent), fit_exponent(article.sizes, article.time_s),
                                 fit_exponent(steady.sizes, steady.time_s), touch_s / article_s};
  finding.quantities.push_back({"growth_bytes", Json::object(), numbers.memory_factor});
  finding.quantities.push_back(factor_quantity("article", numbers.article));
  finding.quantities.push_back(factor_quantity("steady", numbers.steady));
  finding.quantities.push_back({"first_touch_s", {{"n", largest}}, touch_s});
  finding.measured = fmt::format(
      "n = {} to {}: scores' memory x{:.4g}, time {} as document 1 measures, {} into memory used before; at n = {} first "
      "touch is {:.0f} % of {:.1f} ms",
      doubling.front(), largest, numbers.memory_factor, factor_text(numbers.article), factor_text(numbers.steady), largest,
      100 * numbers.first_touch_share, article_s * 1e3);
  judge_timed(finding, judge_quadratic(numbers));
  return finding;
}

Finding examine_heads(const ClaimSettings& settings) {
  Finding finding;
  const Index n = settings.quick ? 512 : 1024;
  TimedRequest request{{}, {Work::scores, Work::standard}};
  request.max_time_s = settings.quick ? 0.1 : 0.7;
  for (const Index heads : {1, 2, 4, 8}) request.points.push_back(square_point(n, width, Precision::f64, heads));
  std::vector<SteadyRow> scores, attention;
  for (SteadyRow& row : time_rows(request, settings.seed, finding)) {
    (row.contender.work == Work::scores ? scores : attention).push_back(std::move(row));
  }
  const Series kept = steady_series(scores, true, finding);
  const Series attended = steady_series(attention, true, finding);
  const HeadsNumbers numbers{fit_exponent(kept.sizes, kept.time_s), fit_exponent(attended.sizes, attended.time_s),
                             fit_growth(kept.sizes, kept.bytes)->exponent, fit_growth(attended.sizes, attended.bytes)->exponent};
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"algorithm", "scores"}}, numbers.scores_time));
  finding.quantities.push_back(exponent_quantity("exponent_time", {{"algorithm", "standard"}}, numbers.attention_time));
  finding.quantities.push_back({"exponent_bytes", {{"algorithm", "scores"}}, numbers.scores_memory});
  finding.quantities.push_back({"exponent_bytes", {{"algorithm", "standard"}}, numbers.attention_memory});
  finding.measured = fmt::format(
      "n = {}, 1 to 8 heads, exponents of the number of heads: time of all scores {}, of attention {}; memory of all scores "
      "{:.2f}, of attention {:.2f}",
      n, exponent_text(numbers.scores_time), exponent_text(numbers.attention_time), numbers.scores_memory, numbers.attention_memory);
  judge_timed(finding, judge_heads(numbers));
  return finding;
}

bool is_linear(double exponent) { return exponent >= least_exponent && exponent <= most_exponent; }

}  // namespace

Judged judge_quadratic(const QuadraticNumbers& numbers) {
  const auto as_stated = [](const FittedExponent& fit) {
    return factor(fit.exponent) >= least_time_factor && factor(fit.exponent) < most_time_factor;
  };
  if (std::abs(numbers.memory_factor / memory_factor - 1) > memory_allowed) {
    return {ClaimVerdict::does_not_hold, fmt::format("memory grows by {:.3g}", numbers.memory_factor)};
  }
  const bool article = as_stated(numbers.article), steady = as_stated(numbers.steady);
  const std::vector<double> limits = {std::log2(least_time_factor), std::log2(most_time_factor)};
  const std::string found = fmt::format("memory by {:.4g}, time by {:.2f} as document 1 measures and by {:.2f} without fresh memory{}",
                                        numbers.memory_factor, factor(numbers.article.exponent), factor(numbers.steady.exponent),
                                        caution_text({{numbers.article, limits}, {numbers.steady, limits}}));
  if (article && steady) return {ClaimVerdict::holds, found};
  return {article || steady ? ClaimVerdict::in_part : ClaimVerdict::does_not_hold, found};
}

Judged judge_heads(const HeadsNumbers& numbers) {
  const bool time = is_linear(numbers.scores_time.exponent) && is_linear(numbers.attention_time.exponent);
  const bool memory = is_linear(numbers.scores_memory);
  const std::vector<double> limits = {least_exponent, most_exponent};
  const std::string found =
      fmt::format("time {} linear in the heads, the scores' memory {}{}", time ? "is" : "is not", memory ? "is too" : "is not",
                  caution_text({{numbers.scores_time, limits}, {numbers.attention_time, limits}}));
  if (time && memory)
    return {ClaimVerdict::holds,
            found + (is_linear(numbers.attention_memory) ? "" : "; attention alone keeps one head's scores at a time")};
  return {time || memory ? ClaimVerdict::in_part : ClaimVerdict::does_not_hold, found};
}

Claim quadratic_claim() {
  return {"quadratic",
          1,
          "doubling n takes 4x the memory, 4–5x the time",
          "per doubling of n: 4x the memory, 4–5x the time",
          fmt::format(
              "holds: the scores' memory grows by {:g} within {:g} %, and time by {:g} to {:g} under both protocols; in part: under one "
              "of them; otherwise it does not hold",
              memory_factor, 100 * memory_allowed, least_time_factor, most_time_factor),
          true,
          10,
          examine_quadratic};
}

Claim heads_claim() {
  return {"heads",
          1,
          "that is one head of many: cost grows with them",
          "the table is one float64 head of one layer; models have many",
          fmt::format(
              "holds: time and the memory of all scores grow with the number of heads to the power {:g} to {:g}; in part: one of the two; "
              "otherwise it does not hold",
              least_exponent, most_exponent),
          true,
          6,
          examine_heads};
}

}  // namespace attn
