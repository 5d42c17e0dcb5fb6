// Speed of attention as a fraction of what this machine can do, measured in the same process.
//
//     bench_attention [--isa NAME] [--threads N] [--seconds S] [PART_OF_A_CASE'S_NAME ...]
//
// Products are compared with the multiply-add peak (2 (head_dim + head_dim_v) operations per visible pair), decoding and softmax with the
// bandwidth of reading and copying as much memory. Samples of a case and of its ceiling alternate; medians are printed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "attention/fused.h"
#include "attention/random_problem.h"
#include "attention/softmax.h"
#include "attention/standard.h"
#include "attention/visibility.h"
#include "machine/isa_targets.h"
#include "machine/threads.h"
#include "measure/arithmetic_peak.h"
#include "measure/memory_bandwidth.h"

using namespace attn;

namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Settings {
  double seconds = 1;
  std::vector<std::string> parts;

  bool wants(const std::string& name) const {
    return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return name.find(part) != std::string::npos; });
  }
};

// Prints the median time of `body`, which does `work` of something, and its share of the rate that `ceiling` returns.
void measure(const Settings& settings, const std::string& name, double work, const std::function<double()>& ceiling,
             const std::function<void()>& body, const std::string& note = "") {
  if (!settings.wants(name)) return;
  body();
  std::vector<double> times, shares;
  const double end = now_s() + settings.seconds;
  while (now_s() < end || times.size() < 5) {
    const double before = ceiling();
    const double start = now_s();
    body();
    times.push_back(now_s() - start);
    shares.push_back(2 * work / times.back() / (before + ceiling()));
  }
  fmt::print("{:<44} {:9.3f} ms {:6.1f} % {}\n", name, median(times) * 1e3, median(shares) * 100, note);
}

template <class T>
double peak_flops() {
  return measure_arithmetic_peak<T>(threads(), {.warm_up_s = 0.001, .burst_s = 0.002, .bursts = 3}).gflops * 1e9;
}

template <class T>
void attention_cases(const Settings& settings, const std::string& type) {
  for (const Index heads : {1, 8}) {
    for (const bool causal : {false, true}) {
      const std::string name = fmt::format("{} n=4096 d=64 heads={}{}", type, heads, causal ? " causal" : "");
      if (!settings.wants(name + " fused") && !settings.wants(name + " standard")) continue;
      OwnedProblem<T> problem = random_problem<T>({1, heads, heads, 4096, 4096, 64, 64}, 1);
      AttentionOptions<T> options;
      options.causal = causal;
      const double work = 2 * (64 + 64) * visible_pairs(problem.shape, options);
      measure(
          settings, name + " fused", work, peak_flops<T>, [&] { fused_attention(problem.tensors(), options); },
          fmt::format("of the multiply-add peak; at most {:.1f} %", 100 * fused_peak_bound<T>(64, 64)));
      measure(settings, name + " standard", work, peak_flops<T>, [&] { standard_attention(problem.tensors(), options); });
    }
  }
}

template <class T>
void shape_case(const Settings& settings, const std::string& name, const AttentionShape& shape, const AttentionOptions<T>& options = {}) {
  if (!settings.wants(name)) return;
  OwnedProblem<T> problem = random_problem<T>(shape, 1);
  const double work = 2 * static_cast<double>(shape.head_dim + shape.head_dim_v) * visible_pairs(problem.shape, options);
  measure(settings, name, work, peak_flops<T>, [&] { fused_attention(problem.tensors(), options); });
}

constexpr BurstOptions short_bursts{.warm_up_s = 0.0005, .burst_s = 0.002, .bursts = 2};

// One query of each head over many keys; many sets of tensors in turn, so that none comes from a cache that it was left in.
template <class T>
void decode_case(const Settings& settings, const std::string& name, const AttentionShape& shape) {
  if (!settings.wants(name)) return;
  constexpr std::uint64_t sets = 12;
  std::vector<OwnedProblem<T>> problems;
  for (std::uint64_t i = 0; i < sets; ++i) problems.push_back(random_problem<T>(shape, i + 1));
  const std::size_t bytes = (problems[0].k.size() + problems[0].v.size()) * sizeof(T);
  MemoryBandwidth bandwidth(sets * bytes, threads());
  std::size_t next = 0;
  measure(
      settings, name, static_cast<double>(bytes), [&] { return bandwidth.measure_gbps(MemoryOperation::read, short_bursts) * 1e9; },
      [&] { fused_attention(problems[next++ % sets].tensors()); }, "of reading");
}

template <class T>
void softmax_case(const Settings& settings, const std::string& name) {
  if (!settings.wants(name)) return;
  Matrix<T> scores(4096, 4096, T{1});
  MemoryBandwidth bandwidth(scores.bytes(), threads());
  measure(
      settings, name, 2 * static_cast<double>(scores.bytes()),
      [&] { return bandwidth.measure_gbps(MemoryOperation::copy, short_bursts) * 1e9; },
      [&] { softmax_rows(scores.view(), scores.view()); }, "of copying");
}

void run_cases(const Settings& settings) {
  attention_cases<float>(settings, "f32");
  attention_cases<double>(settings, "f64");
  shape_case<float>(settings, "f32 n=4096 d=128 fused", {1, 4, 4, 4096, 4096, 128, 128});
  shape_case<float>(settings, "f32 n=1024 d=64 heads=16 fused", {1, 16, 16, 1024, 1024, 64, 64});
  shape_case<float>(settings, "f32 n=512 d=64 heads=32 fused", {1, 32, 32, 512, 512, 64, 64});
  shape_case<float>(settings, "f32 n=4096 d=80 fused", {1, 4, 4, 4096, 4096, 80, 80});
  shape_case<float>(settings, "f32 n=64 keys=16384 d=64 fused", {1, 1, 1, 64, 16384, 64, 64});
  AttentionOptions<float> window;
  window.window_left = 255, window.window_right = 0;
  shape_case<float>(settings, "f32 n=16384 d=64 window=256 fused", {1, 1, 1, 16384, 16384, 64, 64}, window);
  AttentionOptions<float> capped;
  capped.softcap = 20;
  shape_case<float>(settings, "f32 n=4096 d=64 softcap fused", {1, 1, 1, 4096, 4096, 64, 64}, capped);
  const std::vector<float> bias(4096 * 4096, 0.5F);
  AttentionOptions<float> biased;
  biased.mask = {.additive = bias.data(), .keys = 4096, .row_stride = 4096};
  shape_case<float>(settings, "f32 n=4096 d=64 bias fused", {1, 1, 1, 4096, 4096, 64, 64}, biased);
  decode_case<float>(settings, "f32 decode keys=65536 d=64", {1, 1, 1, 1, 65536, 64, 64});
  decode_case<float>(settings, "f32 decode keys=8192 d=128 heads=32/8", {1, 32, 8, 1, 8192, 128, 128});
  decode_case<double>(settings, "f64 decode keys=32768 d=64", {1, 1, 1, 1, 32768, 64, 64});
  softmax_case<float>(settings, "f32 softmax 4096 x 4096");
  softmax_case<double>(settings, "f64 softmax 4096 x 4096");
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--isa" && has_value) {
      force_target(argv[++i]);
    } else if (argument == "--threads" && has_value) {
      set_threads(std::stoi(argv[++i]));
    } else if (argument == "--seconds" && has_value) {
      settings.seconds = std::stod(argv[++i]);
    } else {
      settings.parts.push_back(argument);
    }
  }
  fmt::print("{}, {} threads; shares of the ceiling measured beside each\n", active_target(), threads());
  run_cases(settings);
}
