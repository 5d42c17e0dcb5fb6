// Speed of gemm as a fraction of the multiply-add peak measured in the same process, and beside other BLAS libraries.
//
//     bench_gemm [--isa NAME] [--threads N] [--case PART_OF_NAME] [LIBRARY.so ...]
//
// Every case is measured in rounds: a block of samples of ours, of each library and of the peak, in turn, each after a pause in which the
// other's threads fall asleep. Medians are printed, as ratios.
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
  constexpr Index steps = 1 << 19;
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

template <class T>
void measure(const Case& c, const std::vector<Library>& libraries) {
  std::mt19937 random(1);
  std::normal_distribution<T> normal;
  Matrix<T> a(c.m, c.k);
  Matrix<T> b(c.transposed ? c.n : c.k, c.transposed ? c.k : c.n);
  Matrix<T> reused(c.m, c.n, T{0});
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = normal(random);
  for (Index i = 0; i < b.size(); ++i) b.data()[i] = normal(random);
  const double flops = 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);

  std::vector<std::function<void(Matrix<T>&)>> bodies;
  bodies.emplace_back([&](Matrix<T>& out) {
    (c.transposed ? static_cast<void (*)(T, MatrixView<const T>, MatrixView<const T>, T, MatrixView<T>)>(gemm_nt)
                  : static_cast<void (*)(T, MatrixView<const T>, MatrixView<const T>, T, MatrixView<T>)>(gemm))(1, a, b, 0, out);
  });
  for (const Library& library : libraries) {
    bodies.emplace_back([&](Matrix<T>& out) {
      const auto call = [&](auto function) {
        function(101, 111, c.transposed ? 112 : 111, static_cast<int>(c.m), static_cast<int>(c.n), static_cast<int>(c.k), T{1}, a.data(),
                 static_cast<int>(c.k), b.data(), static_cast<int>(c.transposed ? c.k : c.n), T{0}, out.data(), static_cast<int>(c.n));
      };
      if constexpr (std::is_same_v<T, float>) {
        call(library.sgemm);
      } else {
        call(library.dgemm);
      }
    });
  }
  constexpr int rounds = 5;
  std::vector<std::vector<double>> fractions(bodies.size());
  std::vector<std::vector<double>> times(bodies.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t body = 0; body < bodies.size(); ++body) {
      if (bodies.size() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::vector<double> samples;
      double spent = 0;
      const double peak_before = peak_flops<T>();
      for (int sample = 0; sample < 3 || (spent < 0.15 && sample < 1000); ++sample) {
        const double start = now_s();
        if (c.fresh_result) {
          Matrix<T> fresh(c.m, c.n);
          bodies[body](fresh);
        } else {
          bodies[body](reused);
        }
        if (!c.fresh_result || true) samples.push_back(now_s() - start);
        spent += samples.back();
      }
      const double peak = (peak_before + peak_flops<T>()) / 2;
      times[body].push_back(median(samples));
      fractions[body].push_back(flops / median(samples) / peak);
    }
  }
  fmt::print("{:<28} {:9.3f} ms {:6.1f} GFLOP/s  {:5.1f} % of peak", c.name, median(times[0]) * 1e3, flops / median(times[0]) * 1e-9,
             median(fractions[0]) * 100);
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    fmt::print("   {:.3f} x {} ({:.1f} %)", median(times[i + 1]) / median(times[0]), libraries[i].name, median(fractions[i + 1]) * 100);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  std::vector<Library> libraries;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--isa") {
      force_target(argv[++i]);
    } else if (word == "--threads") {
      set_threads(std::stoi(argv[++i]));
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
        measure<double>(c, libraries);
      } else {
        measure<float>(c, libraries);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace attn

int main(int argc, char** argv) { return attn::run(argc, argv); }
#endif  // HWY_ONCE
