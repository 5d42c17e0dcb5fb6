#include "user_tensors/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "user_tensors/output_precision.h"

namespace attn {
namespace {

using Sight = MistakeVerdict::Sight;

// An element may use so much of its allowance, and the worst error be so many times standard attention's, before it is MARGINAL.
constexpr double comfortable_share = 0.5;
constexpr double comfortable_ratio = 2;

const char* verdict_name(CheckVerdict verdict) {
  return verdict == CheckVerdict::pass ? "PASS" : verdict == CheckVerdict::marginal ? "MARGINAL" : "FAIL";
}

Index count_sight(const Judgement& judgement, Sight sight) {
  return std::count_if(judgement.mistakes.begin(), judgement.mistakes.end(), [=](const auto& m) { return m.sight == sight; });
}

std::string index_text(const CheckedCall& call, const JudgedElement& e) { return shape_text(call.arrangement.index(e.b, e.h, e.i, e.x)); }

std::string row_text(const CheckedCall& call, const RowPosition& row) {
  std::string text = fmt::format("query {}", row.i);
  if (call.shape.heads > 1) text += fmt::format(" of head {}", row.h);
  if (call.shape.batch > 1) text += fmt::format(" of batch {}", row.b);
  return text;
}

// "14 of 16 known mistakes would show; blind to:", before the lines of add_hints.
std::string sight_text(const Judgement& judgement) {
  const Index all = static_cast<Index>(judgement.mistakes.size());
  const Index shown = count_sight(judgement, Sight::shows);
  return fmt::format("{} of {} known mistakes would show{}", shown, all, shown < all ? "; blind to:" : "");
}

std::string counted(Index count, const char* one, const char* many) { return fmt::format("{} {}", count, count == 1 ? one : many); }

std::string verdict_text(const CheckedCall& call, const Judgement& j, CheckVerdict verdict) {
  std::string text = verdict_name(verdict);
  if (call.accumulate) text += fmt::format(" for sums kept in {}", dtype_name(*call.accumulate));
  if (verdict == CheckVerdict::fail) {
    text += fmt::format(", {} of {} differ by more than allowed, in {} of {}", j.beyond, counted(j.elements, "element", "elements"),
                        j.wrong_rows, counted(j.rows, "row", "rows"));
  } else {
    text += ", " + sight_text(j);
  }
  return text;
}

void add_hints(Text& text, const Judgement& judgement) {
  for (const MistakeVerdict& m : judgement.mistakes) {
    if (m.sight != Sight::shows) text.line(fmt::format("  {} (to see it, {})", m.name, m.hint));
  }
}

void add_matches(Text& text, const CheckedCall& call, const Judgement& judgement) {
  for (const Match& match : judgement.matches) {
    text.line(fmt::format("matches {} to {:.1e}, from {} on", match.name, match.difference, row_text(call, match.first)));
  }
  if (judgement.beyond > 0 && judgement.matches.empty()) text.line("matches no known mistake");
}

void add_elements(Text& text, const CheckedCall& call, const Judgement& judgement) {
  std::vector<JudgedElement> shown;
  for (const JudgedElement& e : judgement.worst) {
    if (e.share > comfortable_share) shown.push_back(e);
  }
  if (judgement.nan) text.line(fmt::format("first NaN at {}", index_text(call, *judgement.nan)));
  if (shown.empty()) return;
  std::size_t width = 5;
  for (const JudgedElement& e : shown) width = std::max(width, index_text(call, e).size());
  const int digits = call.output_dtype == Dtype::f64 ? 17 : call.output_dtype == Dtype::f32 ? 9 : 6;
  text.line(fmt::format("{:<{}} {:>{}} {:>{}} {:>10} {:>10}", "worst", width, "expected", digits + 7, "found", digits + 7, "difference",
                        "allowed"));
  for (const JudgedElement& e : shown) {
    text.line(fmt::format("{:<{}} {:>{}.{}g} {:>{}.{}g} {:>10.2e} {:>10.2e}", index_text(call, e), width, e.expected, digits + 7, digits,
                          e.found, digits + 7, digits, std::abs(e.found - e.expected), e.allowed));
  }
}

Text check_text(const CheckedCall& call, const Judgement& j, const Tolerance& tolerance, CheckVerdict verdict) {
  Text text;
  const AttentionShape& s = call.shape;
  text.line(verdict_text(call, j, verdict));
  if (verdict == CheckVerdict::fail) {
    add_matches(text, call, j);
  } else {
    add_hints(text, j);
  }
  if (j.from_masked > 0) {
    text.line(fmt::format("{} NaN only because 0 NaN or 0 inf of a masked key came in, as in PyTorch: not counted",
                          counted(j.from_masked, "element is", "elements are")));
  }
  // Standard attention's own error depends on the instruction set.
  text.line(fmt::format("worst error {:.2e}, standard attention's in {} ", j.error, dtype_name(call.output_dtype)));
  text.add(fmt::format("{:.2e} (ratio {:.3g})", j.standard_error, j.error_ratio()), Cell::measured);
  text.add(fmt::format("; {:.3g} of the allowance used", j.largest_share));
  add_elements(text, call, j);
  text.line(fmt::format("checked {} ({}) of batch {}, heads {} over {}, queries {}, keys {}, head_dim {}, head_dim_v {}, {}; mask: {}",
                        counted(j.rows, "row", "rows"), call.all_rows ? "all" : "a sample; --all checks every one", s.batch, s.heads,
                        s.kv_heads, s.seq_q, s.seq_k, s.head_dim, s.head_dim_v, dtype_name(call.dtype), call.mask));
  text.line(fmt::format("allowed: {} (|o| + sum p|v|) + {:g} {} sum p (|v| + |v - o| scale sum |q k|)", power_text(tolerance.eps_out),
                        tolerance.c, power_text(tolerance.eps_acc)));
  return text;
}

Json element_json(const CheckedCall& call, const JudgedElement& e) {
  return {{"index", call.arrangement.index(e.b, e.h, e.i, e.x)}, {"expected", e.expected}, {"found", e.found}, {"allowed", e.allowed}};
}

Json mistakes_json(const Judgement& judgement) {
  Json list = Json::array();
  for (const MistakeVerdict& m : judgement.mistakes) {
    const char* sight = m.sight == Sight::shows ? "shows" : m.sight == Sight::blind ? "blind" : "same for these shapes";
    list.push_back({{"name", m.name}, {"sight", sight}, {"hint", m.hint}});
  }
  return list;
}

Row check_row(const CheckedCall& call, const Judgement& j, const Tolerance& tolerance, CheckVerdict verdict) {
  const AttentionShape& s = call.shape;
  Row row;
  row.exact("verdict", verdict_name(verdict)).exact("dtype", std::string(dtype_name(call.dtype)));
  row.exact("output_dtype", std::string(dtype_name(call.output_dtype)));
  row.exact("batch", s.batch).exact("heads", s.heads).exact("kv_heads", s.kv_heads).exact("seq_q", s.seq_q).exact("seq_k", s.seq_k);
  row.exact("head_dim", s.head_dim).exact("head_dim_v", s.head_dim_v).exact("mask", call.mask);
  row.exact("input_hash", call.input_hash).exact("output_hash", call.output_hash);
  row.exact("rows", j.rows).exact("all_rows", call.all_rows).exact("elements", j.elements).exact("beyond", j.beyond);
  row.exact("wrong_rows", j.wrong_rows).exact("from_masked", j.from_masked);
  row.exact("largest_share", j.largest_share).exact("error", j.error).measured("standard_error", j.standard_error);
  row.measured("error_ratio", j.error_ratio())
      .exact("eps_out", tolerance.eps_out)
      .exact("eps_acc", tolerance.eps_acc)
      .exact("c", tolerance.c);
  if (call.accumulate) row.exact("accumulate", std::string(dtype_name(*call.accumulate)));
  Json worst = Json::array();
  for (const JudgedElement& e : j.worst) worst.push_back(element_json(call, e));
  row.exact("worst", std::move(worst));
  if (j.nan) row.exact("first_nan", call.arrangement.index(j.nan->b, j.nan->h, j.nan->i, j.nan->x));
  Json matches = Json::array();
  for (const Match& m : j.matches) {
    matches.push_back({{"name", m.name}, {"difference", m.difference}, {"batch", m.first.b}, {"head", m.first.h}, {"query", m.first.i}});
  }
  row.exact("matches", std::move(matches)).exact("mistakes", mistakes_json(j));
  return row;
}

}  // namespace

CheckVerdict verdict_of(const Judgement& judgement) {
  if (judgement.beyond > 0) return CheckVerdict::fail;
  const bool close = judgement.largest_share <= comfortable_share && judgement.error_ratio() <= comfortable_ratio;
  return close ? CheckVerdict::pass : CheckVerdict::marginal;
}

Report check_report(const CheckedCall& call, const Judgement& judgement, const Tolerance& tolerance) {
  const CheckVerdict verdict = verdict_of(judgement);
  const bool strictly = verdict == CheckVerdict::pass && count_sight(judgement, Sight::blind) == 0;
  const bool passed = call.strict ? strictly : verdict != CheckVerdict::fail;
  Report report{"check"};
  report.tabular = true;
  report.headings = Headings::none;
  report.status = passed ? Status::passed : Status::failed;
  Block block{0, "check", "an output against the oracle"};
  block.text = check_text(call, judgement, tolerance, verdict);
  block.rows.push_back(check_row(call, judgement, tolerance, verdict).exact("status", std::string(status_name(report.status))));
  report.blocks.push_back(std::move(block));
  return report;
}

}  // namespace attn
