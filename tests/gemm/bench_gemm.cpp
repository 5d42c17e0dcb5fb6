// Speed of gemm as a fraction of the multiply-add peak measured in the same process, and beside other BLAS libraries.
//
//     bench_gemm [--isa NAME] [--threads N] [--seconds PER_CASE] [--case PART_OF_NAME] [LIBRARY.so ...]
//
// Every case is measured in rounds: samples of ours, then of each library, in alternating order, each library after a pause in which the
// other's threads fall asleep. Every sample stands between two measurements of the peak. Medians are printed.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gemm/gemm.h"
#include "gemm/unroll.h"
#include "machine/isa_targets.h"
#include "machine/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/bench_gemm.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Multiply-adds on independent registers, 2 flops a lane each; returns the number of flops.
template <class T>
HWY_NOINLINE double spin_multiply_adds(Index steps, T* sink) {
  const hn::ScalableTag<T> d;
#if HWY_TARGET == HWY_AVX3
  constexpr Index registers = 24;
#else
  constexpr Index registers = 10;
#endif
  hn::Vec<decltype(d)> sums[registers];
  for (Index r = 0; r < registers; ++r) sums[r] = hn::Set(d, static_cast<T>(r));
  const auto x = hn::Set(d, *sink);
  for (Index step = 0; step < steps; ++step) {
    ATTN_UNROLL
    for (Index r = 0; r < registers; ++r) sums[r] = hn::MulAdd(x, x, sums[r]);
  }
  for (Index r = 1; r < registers; ++r) sums[0] = hn::Add(sums[0], sums[r]);
  *sink = hn::GetLane(sums[0]);
  return 2.0 * static_cast<double>(steps * registers) * static_cast<double>(hn::MaxLanes(d));
}

double spin_f32(Index steps, float* sink) { return spin_multiply_adds(steps, sink); }
double spin_f64(Index steps, double* sink) { return spin_multiply_adds(steps, sink); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(spin_f32);
HWY_EXPORT(spin_f64);

double spin(Index steps, float* sink) { return HWY_DYNAMIC_DISPATCH(spin_f32)(steps, sink); }
double spin(Index steps, double* sink) { return HWY_DYNAMIC_DISPATCH(spin_f64)(steps, sink); }

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Flops per second of all threads together.
template <class T>
double peak_flops() {
  constexpr Index steps = 1 << 17;
  double flops = 0;
  const double start = now_s();
#pragma omp parallel num_threads(threads()) reduction(+ : flops)
  {
    T sink = 0;
    flops += spin(steps, &sink);
  }
  return flops / (now_s() - start);
}

struct Case {
  std::string name;
  bool is_double;
  Index m, n, k;
  bool transposed;
  bool fresh_result;  // allocated and freed inside the clock
};

template <class T>
using CblasGemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);

struct Library {
  std::string name;
  CblasGemm<float> sgemm;
  CblasGemm<double> dgemm;
};

Library load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  Library library{path.substr(path.rfind('/') + 1), reinterpret_cast<CblasGemm<float>>(dlsym(handle, "cblas_sgemm")),
                  reinterpret_cast<CblasGemm<double>>(dlsym(handle, "cblas_dgemm"))};
  for (const char* name : {"openblas_set_num_threads", "bli_thread_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (void* set = dlsym(handle, name)) {
      if (std::strncmp(name, "bli", 3) == 0) {
        reinterpret_cast<void (*)(std::int64_t)>(set)(threads());
      } else {
        reinterpret_cast<void (*)(int)>(set)(threads());
      }
    }
  }
  return library;
}

// gemm, or the cblas function of a library, on the operands of one case.
template <class T>
struct Operands {
  Case shape;
  Matrix<T> a;
  Matrix<T> b;
  Matrix<T> reused;

  explicit Operands(const Case& c) : shape(c), a(c.m, c.k), b(c.transposed ? c.n : c.k, c.transposed ? c.k : c.n), reused(c.m, c.n, T{0}) {
    std::mt19937 random(1);
    std::normal_distribution<T> normal;
    for (Index i = 0; i < a.size(); ++i) a.data()[i] = normal(random);
    for (Index i = 0; i < b.size(); ++i) b.data()[i] = normal(random);
  }

  void ours(Matrix<T>& out) const {
    if (shape.transposed) {
      gemm_nt(T{1}, a, b, T{0}, out);
    } else {
      gemm(T{1}, a, b, T{0}, out);
    }
  }

  void theirs(const Library& library, Matrix<T>& out) const {
    const auto call = [&](auto function) {
      constexpr int row_major = 101, no = 111, yes = 112;
      function(row_major, no, shape.transposed ? yes : no, static_cast<int>(shape.m), static_cast<int>(shape.n), static_cast<int>(shape.k),
               T{1}, a.data(), static_cast<int>(a.cols()), b.data(), static_cast<int>(b.cols()), T{0}, out.data(),
               static_cast<int>(out.cols()));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(library.sgemm);
    } else {
      call(library.dgemm);
    }
  }
};

struct Sample {
  double time_s;
  double peak_fraction;
};

// One sample: as many calls as take a few milliseconds, between two measurements of the peak.
template <class T, class Body>
Sample take_sample(const Case& c, Matrix<T>& reused, int calls, Body body) {
  const double before = peak_flops<T>();
  const double start = now_s();
  for (int call = 0; call < calls; ++call) {
    if (c.fresh_result) {
      Matrix<T> fresh(c.m, c.n);
      body(fresh);
    } else {
      body(reused);
    }
  }
  const double time_s = (now_s() - start) / calls;
  const double flops = 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);
  return {time_s, 2 * flops / time_s / (before + peak_flops<T>())};
}

template <class T>
void measure(const Case& c, const std::vector<Library>& libraries, double seconds) {
  Operands<T> x(c);
  std::vector<std::function<void(Matrix<T>&)>> bodies = {[&](Matrix<T>& out) { x.ours(out); }};
  for (const Library& library : libraries) bodies.emplace_back([&](Matrix<T>& out) { x.theirs(library, out); });
  std::vector<std::vector<double>> times(bodies.size()), fractions(bodies.size());
  constexpr int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const std::size_t body = round % 2 == 0 ? i : bodies.size() - 1 - i;
      if (bodies.size() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      const double start = now_s();
      const Sample warm_up = take_sample(c, x.reused, 1, bodies[body]);
      const int calls = std::max(1, static_cast<int>(0.005 / warm_up.time_s));
      for (int sample = 0; sample < 2 || now_s() - start < seconds / rounds; ++sample) {
        const Sample taken = take_sample(c, x.reused, calls, bodies[body]);
        times[body].push_back(taken.time_s);
        fractions[body].push_back(taken.peak_fraction);
      }
    }
  }
  fmt::print("{:<26} {:9.3f} ms  {:5.1f} % of peak", c.name, median(times[0]) * 1e3, median(fractions[0]) * 100);
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    fmt::print("   {:.3f} x {} ({:.1f} %)", median(times[i + 1]) / median(times[0]), libraries[i].name, median(fractions[i + 1]) * 100);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  std::vector<Library> libraries;
  std::string only;
  double seconds = 0.6;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--isa") {
      force_target(argv[++i]);
    } else if (word == "--threads") {
      set_threads(std::stoi(argv[++i]));
    } else if (word == "--seconds") {
      seconds = std::stod(argv[++i]);
    } else if (word == "--case") {
      only = argv[++i];
    } else {
      libraries.push_back(load(word));
    }
  }
  fmt::print("target {}, {} threads, peak {:.1f} GFLOP/s float64, {:.1f} float32\n", active_target(), threads(),
             peak_flops<double>() * 1e-9, peak_flops<float>() * 1e-9);
  for (const bool is_double : {true, false}) {
    const std::string type = is_double ? "f64" : "f32";
    const std::vector<Case> cases = {
        {"scores " + type + " n=4096 d=64", is_double, 4096, 4096, 64, true, false},
        {"scores fresh " + type + " n=4096", is_double, 4096, 4096, 64, true, true},
        {"scores " + type + " n=1024 d=64", is_double, 1024, 1024, 64, true, false},
        {"scores " + type + " n=512 d=64", is_double, 512, 512, 64, true, false},
        {"scores " + type + " n=64 d=64", is_double, 64, 64, 64, true, false},
        {"square " + type + " 2048", is_double, 2048, 2048, 2048, false, false},
        {"square " + type + " 1000", is_double, 1000, 1000, 1000, false, false},
        {"square " + type + " 256", is_double, 256, 256, 256, false, false},
        {"values " + type + " 4096x64x4096", is_double, 4096, 64, 4096, false, false},
        {"row " + type + " 1x4096x4096", is_double, 1, 4096, 4096, false, false},
        {"column " + type + " 4096x1x4096", is_double, 4096, 1, 4096, false, false},
        {"deep " + type + " 16x16x1000000", is_double, 16, 16, 1000000, true, false},
    };
    for (const Case& c : cases) {
      if (c.name.find(only) == std::string::npos) continue;
      if (c.is_double) {
        measure<double>(c, libraries, seconds);
      } else {
        measure<float>(c, libraries, seconds);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace attn

int main(int argc, char** argv) { return attn::run(argc, argv); }
#endif  // HWY_ONCE
