// BLAS libraries loaded at run time: made-up ones under every known naming, and a real one where it is installed.
#include <dlfcn.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "machine/error.h"
#include "measure/blas_library.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

std::string fake(const std::string& name) { return std::string(FAKE_BLAS_DIR) + "/fake_blas_" + name + ".so"; }

// A function of the fake library, which is loaded already.
template <class Function>
Function* from_fake(const std::string& name, const char* function) {
  void* handle = dlopen(fake(name).c_str(), RTLD_NOW);
  REQUIRE(handle != nullptr);
  return reinterpret_cast<Function*>(dlsym(handle, function));
}

// A matrix in a buffer with rows three elements longer, filled with small whole numbers; the room between rows holds NaN.
template <class T>
struct Padded {
  Padded(Index rows, Index cols, int seed)
      : buffer(static_cast<std::size_t>(rows * (cols + 3)), std::nan("")), view(buffer.data(), rows, cols, cols + 3) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) view(i, j) = static_cast<T>((seed + 7 * i + 3 * j + i * j) % 11 - 5);
    }
  }
  std::vector<T> buffer;
  MatrixView<T> view;
};

// Whole numbers small enough to be exact in float: the library's answer must equal the sum written out.
template <class T>
void check_gemm(const BlasLibrary& blas, Index m, Index n, Index k) {
  for (const Transpose ta : {Transpose::no, Transpose::yes}) {
    for (const Transpose tb : {Transpose::no, Transpose::yes}) {
      const bool a_turned = ta == Transpose::yes;
      const bool b_turned = tb == Transpose::yes;
      CAPTURE(m, n, k, a_turned, b_turned);
      const Padded<T> a(a_turned ? k : m, a_turned ? m : k, 1);
      const Padded<T> b(b_turned ? n : k, b_turned ? k : n, 4);
      Padded<T> c(m, n, 9);
      Padded<T> expected(m, n, 9);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) {
          T sum = 0;
          for (Index p = 0; p < k; ++p) sum += (a_turned ? a.view(p, i) : a.view(i, p)) * (b_turned ? b.view(j, p) : b.view(p, j));
          expected.view(i, j) = 2 * sum + 3 * expected.view(i, j);
        }
      }
      blas.gemm<T>(ta, tb, 2, a.view, b.view, 3, c.view);
      bool same = true;
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) same = same && c.view(i, j) == expected.view(i, j);
        for (Index j = n; j < n + 3; ++j) same = same && std::isnan(c.view.data()[i * (n + 3) + j]);
      }
      CHECK(same);
    }
  }
}

}  // namespace

TEST_CASE("every way of naming is understood, with its integers and its order of arguments") {
  struct Entry {
    std::string library, dgemm;
    bool cblas, wide;
  };
  const Entry entries[] = {{"plain", "cblas_dgemm", true, false},
                           {"plain_wide", "cblas_dgemm", true, true},
                           {"scipy", "scipy_cblas_dgemm64_", true, true},
                           {"suffix", "cblas_dgemm64_", true, true},
                           {"mkl", "cblas_dgemm_64", true, true},
                           {"blis", "cblas_dgemm", true, true},
                           {"accelerate", "cblas_dgemm$NEWLAPACK$ILP64", true, true},
                           {"fortran", "dgemm_", false, false},
                           {"fortran_wide", "dgemm_64_", false, true},
                           {"fortran_scipy", "scipy_dgemm_64_", false, true}};
  for (const Entry& entry : entries) {
    CAPTURE(entry.library);
    const BlasLibrary blas(fake(entry.library));
    CHECK(blas.dgemm().name == entry.dgemm);
    CHECK(blas.dgemm().is_cblas == entry.cblas);
    CHECK(blas.dgemm().wide_integers == entry.wide);
    check_gemm<double>(blas, 5, 4, 3);
    check_gemm<float>(blas, 2, 7, 6);
    // Row-major 2 x 7 = (2 x 6)(6 x 7), rows three longer; Fortran is asked for the transpose, so its sizes change places.
    const Padded<float> a(2, 6, 1);
    const Padded<float> b(6, 7, 2);
    Padded<float> c(2, 7, 3);
    blas.gemm<float>(Transpose::no, Transpose::no, 1, a.view, b.view, 0, c.view);
    const long long* sizes = from_fake<const long long*()>(entry.library, "fake_sizes")();
    const std::vector<long long> found(sizes, sizes + 6);
    CHECK(found == (entry.cblas ? std::vector<long long>{2, 7, 6, 9, 10, 10} : std::vector<long long>{7, 2, 6, 10, 9, 10}));
  }
}

TEST_CASE("threads are set by the library's own function") {
  for (const std::string library : {"plain", "scipy", "suffix", "mkl", "blis"}) {
    CAPTURE(library);
    const BlasLibrary blas(fake(library));
    CHECK(blas.set_threads(3));
    CHECK(from_fake<int()>(library, "fake_threads")() == 3);
  }
  CHECK_FALSE(BlasLibrary(fake("fortran")).set_threads(3));
}

TEST_CASE("a library says what it is, if it can") {
  CHECK(BlasLibrary(fake("plain")).description() == "Fake 0.1");
  CHECK(BlasLibrary(fake("scipy")).description() == "Fake SciPy");
  CHECK(BlasLibrary(fake("blis")).description() == "BLIS 9.9");
  CHECK(BlasLibrary(fake("mkl")).description() == "Fake MKL 1");
  CHECK(BlasLibrary(fake("fortran")).description().empty());
}

TEST_CASE("what is no BLAS library is a clear error") {
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "text.so").string();
  std::ofstream(text) << "not a library\n";
  const auto message = [](const std::string& path) -> std::string {
    try {
      BlasLibrary library(path);
    } catch (const FileError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(message("/nowhere/libblas.so").find("BLAS library: /nowhere/libblas.so: expected") == 0);
  CHECK(message(text).find(text) != std::string::npos);
  CHECK(message(fake("half")).find("no dgemm") != std::string::npos);
  CHECK(message("libdl.so.2").find("neither") != std::string::npos);
}

TEST_CASE("shapes that do not fit are refused, empty ones are nothing to do") {
  const BlasLibrary blas(fake("plain"));
  const Padded<double> a(2, 3, 1);
  Padded<double> c(2, 2, 1);
  CHECK_THROWS_AS((blas.gemm<double>(Transpose::no, Transpose::no, 1, a.view, a.view, 0, c.view)), UsageError);
  const double number = 1;
  const MatrixView<const double> tall(&number, Index{1} << 31, 1);
  const MatrixView<double> empty(nullptr, Index{1} << 31, 0);
  CHECK_NOTHROW(blas.gemm<double>(Transpose::no, Transpose::no, 1, tall, MatrixView<const double>(&number, 1, 0), 0, empty));
  double out = 0;
  const MatrixView<double> wide(&out, 1, Index{1} << 31);
  CHECK_THROWS_AS((blas.gemm<double>(Transpose::no, Transpose::yes, 1, MatrixView<const double>(&number, 1, 1), tall, 0, wide)),
                  UsageError);
}

TEST_CASE("a real library, where one is installed, agrees with sums written out") {
  if (sanitized) {
    WARN("skipped: threads of a library built without them are beyond the sanitizers");
    return;
  }
  int tried = 0;
  for (const char* path : {"libopenblas.so.0", "libblis.so.4"}) {
    if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); handle == nullptr) continue;
    ++tried;
    const BlasLibrary blas(path);
    CAPTURE(path, blas.description());
    CHECK(blas.set_threads(2));
    check_gemm<double>(blas, 33, 17, 25);
    check_gemm<float>(blas, 4, 70, 9);
  }
  if (tried == 0) WARN("skipped: neither libopenblas.so.0 nor libblis.so.4 is installed");
}
