#include "measure/arithmetic_peak.h"

#include <type_traits>
#include <vector>

#include "machine/error.h"
#include "machine/isa_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/arithmetic_peak.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Accumulators must stay in registers: every index a constant.
#if defined(__clang__)
#define ATTN_PEAK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ATTN_PEAK_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Chains in flight: two units times a latency of 4 cycles are 8, the widest Arm cores have four units. 12 and the operands fit 16 vector
// registers, 16 fit 32.
constexpr int chains = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON ? 16 : 12;

#if !HWY_NATIVE_FMA
// Makes the compiler forget what it knows of v, so that the same product is computed anew each time; costs no instruction where v is a
// register. Vectors that Highway emulates are arrays and go through memory.
template <class V>
HWY_INLINE void forget(V& v) {
  if constexpr (std::is_array_v<decltype(v.raw)>) {
    asm volatile("" : "+m"(v.raw));
  } else {
    auto raw = v.raw;
#if HWY_ARCH_X86
    asm volatile("" : "+x"(raw));
#elif HWY_ARCH_ARM
    asm volatile("" : "+w"(raw));
#else
    asm volatile("" : "+m"(raw));
#endif
    v.raw = raw;
  }
}
#endif

// acc += a b, as a micro-kernel does it: only the addition waits for the one before.
template <class V>
HWY_INLINE void accumulate(V& a, V b, V& acc) {
#if HWY_NATIVE_FMA
  acc = hn::MulAdd(a, b, acc);
#else
  forget(a);
  acc = hn::Add(hn::Mul(a, b), acc);
#endif
}

// 64 x chains accumulations a repeat. Returns something that depends on all of them. The sums stay finite for any number of repeats that
// a lifetime has room for.
template <class T>
HWY_NOINLINE T run_chains(long repeats) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V a = hn::Set(d, static_cast<T>(0.7310585786300049));
  const V b = hn::Set(d, static_cast<T>(-0.2689414213699951));
  V acc[chains];
  ATTN_PEAK_UNROLL
  for (int chain = 0; chain < chains; ++chain) acc[chain] = hn::Set(d, static_cast<T>(chain));
  for (long step = 0; step < 64 * repeats; ++step) {
    ATTN_PEAK_UNROLL
    for (int chain = 0; chain < chains; ++chain) accumulate(a, b, acc[chain]);
  }
  ATTN_PEAK_UNROLL
  for (int chain = 1; chain < chains; ++chain) acc[0] = hn::Add(acc[0], acc[chain]);
  return hn::GetLane(acc[0]);
}

float run_chains_f32(long repeats) { return run_chains<float>(repeats); }
double run_chains_f64(long repeats) { return run_chains<double>(repeats); }

// Operations a repeat, on one core.
double operations_f32() { return 2.0 * 64 * chains * static_cast<double>(hn::Lanes(hn::ScalableTag<float>())); }
double operations_f64() { return 2.0 * 64 * chains * static_cast<double>(hn::Lanes(hn::ScalableTag<double>())); }

bool has_fma() { return HWY_NATIVE_FMA != 0; }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(run_chains_f32);
HWY_EXPORT(run_chains_f64);
HWY_EXPORT(operations_f32);
HWY_EXPORT(operations_f64);
HWY_EXPORT(has_fma);

}  // namespace

template <class T>
ArithmeticPeak measure_arithmetic_peak(int threads, const BurstOptions& options) {
  if (threads < 1) throw UsageError("arithmetic peak: threads: expected at least 1, found " + std::to_string(threads));
  constexpr bool single = std::is_same_v<T, float>;
  std::vector<T> sums(static_cast<std::size_t>(threads));  // keeps the compiler from leaving the work out
  const auto work = [&](int thread, long repeats) {
    T& sum = sums[static_cast<std::size_t>(thread)];
    if constexpr (single)
      sum = HWY_DYNAMIC_DISPATCH(run_chains_f32)(repeats);
    else
      sum = HWY_DYNAMIC_DISPATCH(run_chains_f64)(repeats);
  };
  const double operations = single ? HWY_DYNAMIC_DISPATCH(operations_f32)() : HWY_DYNAMIC_DISPATCH(operations_f64)();
  ArithmeticPeak peak;
  peak.fma = HWY_DYNAMIC_DISPATCH(has_fma)();
  peak.gflops = 1e-9 * best_rate(threads, operations, work, options);
  peak.threads = threads;
  peak.isa = active_target();
  return peak;
}

template ArithmeticPeak measure_arithmetic_peak<float>(int threads, const BurstOptions& options);
template ArithmeticPeak measure_arithmetic_peak<double>(int threads, const BurstOptions& options);

}  // namespace attn
#endif
