// The claims about time and memory: verdicts as functions of numbers. What is timed is not asserted; what windows lose is computed.
#include "catch.h"
#include "claims/fused_speed.h"
#include "claims/kv_cache.h"
#include "claims/peers.h"
#include "claims/quadratic.h"
#include "claims/sparse.h"
#include "machine/error.h"
#include "measure/clock.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

FittedExponent fit(double exponent) { return {exponent, exponent - 0.05, exponent + 0.05}; }

SpeedPoint speed(const char* whose, const char* dtype, bool causal, Index n, double ratio, double plain_mb = 20, double fused_mb = 10) {
  return {whose, dtype, causal, n, ratio, ratio - 0.1, ratio + 0.1, plain_mb, fused_mb};
}

ClaimVerdict fused_verdict(const SpeedPoint& other) {
  return judge_fused({speed("attn", "f32", false, 512, 0.5), speed("attn", "f32", false, 8192, 3), other}).verdict;
}

Json peer_row(const char* algorithm, Index n, double ms, const Json& kernel = nullptr) {
  return {{"algorithm", algorithm},
          {"dtype", "f32"},
          {"mask", "causal"},
          {"heads", 1},
          {"head_dim", 64},
          {"seq_q", n},
          {"seq_k", n},
          {"status", "passed"},
          {"kernel", kernel},
          {"peak_bytes", 1000},
          {"samples_ns", {ms * 1e6, ms * 1e6, ms * 2e6}}};
}

ClaimVerdict dispatch_verdict(const std::vector<Json>& rows) { return judge_dispatch(pytorch_problems(rows)).verdict; }

SparseNumbers sparse_numbers(double window, double full, double outside) {
  return {
      fit(window), fit(full), {{false, 1024, 128, {0.7, 0}, {1, 0}}, {true, 12, 1, {0.9, 0}, {1, 0}}, {true, 12, 2, {outside, 0}, {1, 0}}}};
}

ClaimVerdict sparse_verdict(const Attend<double>& attend) {
  return judge_sparse({fit(1), fit(2), measure_window_losses(attend, Seed(0), true)}).verdict;
}

}  // namespace

TEST_CASE("quadratic: memory by 4 and time by 4 to 5 under both protocols", "[claims]") {
  const auto verdict = [](double memory, double article, double steady) {
    return judge_quadratic({memory, fit(article), fit(steady), 0.4}).verdict;
  };
  CHECK(verdict(4, 2.0, 2.3) == ClaimVerdict::holds);
  CHECK(verdict(4, 2.0, 1.8) == ClaimVerdict::in_part);  // 2^1.8 = 3.48
  CHECK(verdict(4, 2.5, 2.0) == ClaimVerdict::in_part);  // 2^2.5 = 5.66
  CHECK(verdict(4, 1.0, 1.0) == ClaimVerdict::does_not_hold);
  CHECK(verdict(2, 2.0, 2.0) == ClaimVerdict::does_not_hold);
}

TEST_CASE("heads: time and memory of all scores are linear", "[claims]") {
  const auto verdict = [](double scores, double attention, double memory) {
    return judge_heads({fit(scores), fit(attention), memory, 0.5}).verdict;
  };
  CHECK(verdict(1.0, 0.95, 1.0) == ClaimVerdict::holds);
  CHECK(verdict(1.0, 0.85, 1.0) == ClaimVerdict::in_part);
  CHECK(verdict(1.0, 1.0, 0.5) == ClaimVerdict::in_part);
  CHECK(verdict(1.2, 1.0, 0.5) == ClaimVerdict::does_not_hold);
}

TEST_CASE("a verdict that another run may well overturn says so", "[claims]") {
  const FittedExponent sure{2.0, 1.9, 2.1}, unsure{2.0, 1.7, 2.3};  // 2^1.7 = 3.2, below the limit of 3.5
  const auto cautious = [](const Judged& judged) { return judged.reason.find("95 % interval reaches across") != std::string::npos; };
  CHECK_FALSE(cautious(judge_quadratic({4, sure, sure, 0.4})));
  CHECK(cautious(judge_quadratic({4, sure, unsure, 0.4})));
  CHECK(cautious(judge_quadratic({4, unsure, sure, 0.4})));
  CHECK(cautious(judge_heads({{1, 0.95, 1.2}, {1, 0.95, 1.05}, 1, 0.5})));
  CHECK(cautious(judge_kv_cache({{1.9, 1.5, 2.3}, {1.1, 1.0, 1.2}, 5, true})));
  CHECK(cautious(judge_sparse({{1.2, 1.1, 1.3}, {2, 1.9, 2.1}, {}})));
}

TEST_CASE("what others did since a claim was begun counts, whatever its rows saw of it", "[claims]") {
  const auto verdict_beside = [](double others_s, double rows_s, double others_at_rows_s) {
    Finding finding;
    finding.load = LoadByOthers(steady_now_ns() - 100'000'000'000, others_cpu_s().value_or(0) - others_s);
    finding.timed_s = rows_s;
    finding.others_s = others_at_rows_s;
    judge_timed(finding, {ClaimVerdict::holds, "so it was"});
    return finding.judged.verdict;
  };
  CHECK(verdict_beside(0, 0, 0) == ClaimVerdict::holds);
  CHECK(verdict_beside(10, 0, 0) == ClaimVerdict::holds);  // a tenth of a processor
  CHECK(verdict_beside(120, 0, 0) == ClaimVerdict::not_measurable);
  CHECK(verdict_beside(120, 2, 0.1) == ClaimVerdict::not_measurable);
  CHECK(verdict_beside(0, 2, 1.5) == ClaimVerdict::not_measurable);
}

TEST_CASE("fused: twice as fast with less memory at the largest n of every series", "[claims]") {
  CHECK(fused_verdict(speed("attn", "f64", false, 8192, 2)) == ClaimVerdict::holds);
  CHECK(fused_verdict(speed("attn", "f64", false, 8192, 5)) == ClaimVerdict::holds);
  CHECK(fused_verdict(speed("attn", "f64", false, 8192, 1.9)) == ClaimVerdict::in_part);
  CHECK(fused_verdict(speed("pytorch", "f32", false, 4096, 1.9)) == ClaimVerdict::in_part);
  CHECK(fused_verdict(speed("attn", "f64", false, 8192, 2, 10, 10)) == ClaimVerdict::in_part);
  CHECK(fused_verdict(speed("attn", "f64", false, 8192, 0.9)) == ClaimVerdict::does_not_hold);
  CHECK(judge_fused({speed("attn", "f32", false, 8192, 1.5)}).verdict == ClaimVerdict::does_not_hold);
  CHECK(judge_fused({}).verdict == ClaimVerdict::not_measurable);
  SpeedPoint unknown_memory = speed("pytorch", "f32", false, 4096, 3);
  unknown_memory.plain_bytes = unknown_memory.fused_bytes = std::nullopt;
  CHECK(fused_verdict(unknown_memory) == ClaimVerdict::holds);
}

TEST_CASE("fused: from which n on the ratio is at least 2", "[claims]") {
  const std::vector<SpeedPoint> points = {speed("attn", "f32", false, 512, 2.1), speed("attn", "f32", false, 1024, 1.9),
                                          speed("attn", "f32", false, 4096, 3), speed("attn", "f32", false, 2048, 2),
                                          speed("attn", "f32", true, 4096, 1.5)};
  CHECK(crossing(points, points[0]) == Index{2048});
  CHECK_FALSE(crossing(points, points[4]));
  CHECK(largest_points(points).size() == 2);
}

TEST_CASE("dispatch: the kernel's name and its time decide", "[claims]") {
  const std::vector<Json> calls = {peer_row("pytorch-fused", 512, 1), peer_row("pytorch-math", 512, 4)};
  const auto verdict = [&](double ms, const Json& kernel, std::vector<Json> others = {}) {
    std::vector<Json> rows = calls;
    rows.push_back(peer_row("pytorch", 512, ms, kernel));
    rows.insert(rows.end(), others.begin(), others.end());
    return dispatch_verdict(rows);
  };
  CHECK(verdict(1.1, "FLASH_ATTENTION") == ClaimVerdict::holds);
  CHECK(verdict(1.1, nullptr) == ClaimVerdict::holds);
  CHECK(verdict(1.9, "EFFICIENT_ATTENTION") == ClaimVerdict::holds);
  CHECK(verdict(2.1, "FLASH_ATTENTION") == ClaimVerdict::does_not_hold);  // nearer to 4 than to 1, as ratios
  CHECK(verdict(1.1, "MATH") == ClaimVerdict::does_not_hold);
  const std::vector<Json> second = {peer_row("pytorch-fused", 1024, 1), peer_row("pytorch-math", 1024, 4),
                                    peer_row("pytorch", 1024, 3.9, "MATH")};
  CHECK(verdict(1.1, "FLASH_ATTENTION", second) == ClaimVerdict::in_part);
  CHECK(dispatch_verdict(calls) == ClaimVerdict::not_measurable);
  Json failed = peer_row("pytorch", 512, 1, "FLASH_ATTENTION");
  failed["status"] = "failed";
  CHECK(dispatch_verdict({calls[0], calls[1], failed}) == ClaimVerdict::not_measurable);
}

TEST_CASE("peers: a file without PyTorch's rows is refused", "[claims]") {
  const TemporaryFolder folder;
  const auto path = [&](const Json& rows) {
    const Json document = {{"schema_version", 1}, {"context", Json::object()}, {"args", Json::object()}, {"results", rows}};
    folder.write("peers.json", document.dump());
    return (folder.path() / "peers.json").string();
  };
  CHECK(read_peers(path(Json::array({peer_row("pytorch", 512, 1)}))).size() == 1);
  const std::string twice = (folder.path() / "peers.json").string() + "," + (folder.path() / "peers.json").string();
  CHECK(read_peers(twice).size() == 2);
  CHECK_THROWS_AS(pytorch_problems(read_peers(twice)), FileError);  // which of the two times?
  const Json elsewhere = {{"schema_version", 1},
                          {"context", {{"threads", 7}}},
                          {"args", Json::object()},
                          {"results", Json::array({peer_row("pytorch", 1024, 1)})}};
  folder.write("elsewhere.json", elsewhere.dump());
  CHECK_THROWS_AS(read_peers((folder.path() / "peers.json").string() + "," + (folder.path() / "elsewhere.json").string()), UsageError);
  CHECK_THROWS_AS(read_peers(path(Json::array({peer_row("numpy", 512, 1), "text"}))), FileError);
  CHECK_THROWS_AS(read_peers((folder.path() / "none.json").string()), FileError);
}

TEST_CASE("sparse: the exponents decide, then what a window of five tokens loses on the sentence", "[claims]") {
  CHECK(judge_sparse(sparse_numbers(1.0, 2.0, 0.04)).verdict == ClaimVerdict::holds);
  CHECK(judge_sparse(sparse_numbers(1.0, 2.0, 0.06)).verdict == ClaimVerdict::in_part);
  CHECK(judge_sparse(sparse_numbers(1.3, 2.0, 0.04)).verdict == ClaimVerdict::does_not_hold);
  CHECK(judge_sparse(sparse_numbers(1.0, 1.4, 0.04)).verdict == ClaimVerdict::does_not_hold);
}

TEST_CASE("sparse holds in part, and a window that is not applied changes the verdict", "[claims]") {
  CHECK(sparse_verdict(standard_attend<double>()) == ClaimVerdict::in_part);
  CHECK(sparse_verdict([](const AttentionTensors<double>& tensors, AttentionOptions<double> options, double* weights) {
          options.window_left = options.window_right = unlimited;
          standard_attend<double>()(tensors, options, weights);
        }) == ClaimVerdict::holds);
}

TEST_CASE("sparse: what windows lose where it is known", "[claims]") {
  // Gaussian heads without preference for position: about 1 - 257 / 1024 away from the ends, less what ends save.
  const std::vector<WindowLoss> losses = measure_window_losses(standard_attend<double>(), Seed(0), true);
  REQUIRE(losses.size() == 4);
  // Queries within 128 of an end see fewer keys: (257 * 1024 - 128 * 129) / 1024^2 of all pairs are visible.
  CHECK(losses[0].outside.mean == Approx(1 - (257.0 * 1024 - 128 * 129) / (1024.0 * 1024)).margin(0.01));
  // A wider window loses less.
  CHECK(losses[1].outside.mean > losses[2].outside.mean);
  CHECK(losses[2].outside.mean > losses[3].outside.mean);
  CHECK(losses[1].error.mean > losses[3].error.mean);
  CHECK(losses[1].sentence);
  CHECK(losses[1].seq == 12);
}

TEST_CASE("times say nothing where others kept the processors busy", "[claims]") {
  const Judged judged{ClaimVerdict::holds, "so"};
  CHECK(unless_busy(judged, 0).verdict == ClaimVerdict::holds);
  CHECK(unless_busy(judged, 0.5).verdict == ClaimVerdict::holds);
  CHECK(unless_busy(judged, 0.6).verdict == ClaimVerdict::not_measurable);
}
