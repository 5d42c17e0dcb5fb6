#include "measure/blas_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "machine/error.h"

namespace attn {
namespace {

// One multiplication as BLAS counts it: sizes and leading dimensions; all at least as BLAS wants them.
template <class T>
struct Call {
  Transpose transpose_a, transpose_b;
  Index m, n, k;
  T alpha;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  T beta;
  T* c;
  Index ldc;
};

template <class T>
Call<T> make_call(Transpose transpose_a, Transpose transpose_b, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
                  MatrixView<T> c) {
  const Index a_rows = transpose_a == Transpose::yes ? a.cols() : a.rows();
  const Index a_cols = transpose_a == Transpose::yes ? a.rows() : a.cols();
  const Index b_rows = transpose_b == Transpose::yes ? b.cols() : b.rows();
  const Index b_cols = transpose_b == Transpose::yes ? b.rows() : b.cols();
  if (a_rows != c.rows() || b_cols != c.cols() || a_cols != b_rows) {
    throw UsageError("BLAS: gemm: expected (m x k) (k x n) = (m x n), found (" + std::to_string(a_rows) + " x " + std::to_string(a_cols) +
                     ") (" + std::to_string(b_rows) + " x " + std::to_string(b_cols) + ") = (" + std::to_string(c.rows()) + " x " +
                     std::to_string(c.cols()) + ")");
  }
  const auto leading = [](const auto& matrix) { return std::max<Index>({1, matrix.row_stride(), matrix.cols()}); };
  return {transpose_a, transpose_b, c.rows(),   c.cols(), a_cols,   alpha,     a.data(),
          leading(a),  b.data(),    leading(b), beta,     c.data(), leading(c)};
}

// The C interface: row-major order as it is.
template <class T, class Integer>
void call_cblas(void* address, const Call<T>& call) {
  constexpr int row_major = 101;
  const auto transposed = [](Transpose transpose) { return transpose == Transpose::yes ? 112 : 111; };
  const auto integer = [](Index value) { return static_cast<Integer>(value); };
  using Gemm = void(int, int, int, Integer, Integer, Integer, T, const T*, Integer, const T*, Integer, T, T*, Integer);
  reinterpret_cast<Gemm*>(address)(row_major, transposed(call.transpose_a), transposed(call.transpose_b), integer(call.m), integer(call.n),
                                   integer(call.k), call.alpha, call.a, integer(call.lda), call.b, integer(call.ldb), call.beta, call.c,
                                   integer(call.ldc));
}

// Fortran's interface is column-major: it sees the transposes of our matrices, so C' = op(B)' op(A)' is what to ask for. Compilers add the
// lengths of the two texts at the end.
template <class T, class Integer>
void call_fortran(void* address, const Call<T>& call) {
  const char first = call.transpose_b == Transpose::yes ? 'T' : 'N';
  const char second = call.transpose_a == Transpose::yes ? 'T' : 'N';
  const auto m = static_cast<Integer>(call.n), n = static_cast<Integer>(call.m), k = static_cast<Integer>(call.k);
  const auto lda = static_cast<Integer>(call.ldb), ldb = static_cast<Integer>(call.lda), ldc = static_cast<Integer>(call.ldc);
  using Gemm = void(const char*, const char*, const Integer*, const Integer*, const Integer*, const T*, const T*, const Integer*, const T*,
                    const Integer*, const T*, T*, const Integer*, std::size_t, std::size_t);
  reinterpret_cast<Gemm*>(address)(&first, &second, &m, &n, &k, &call.alpha, call.b, &lda, call.a, &ldb, &call.beta, call.c, &ldc, 1, 1);
}

template <class T, class Integer>
void call_with(const GemmSymbol& symbol, const Call<T>& call) {
  for (const Index size : {call.m, call.n, call.k, call.lda, call.ldb, call.ldc}) {
    if (size > std::numeric_limits<Integer>::max()) {
      throw UsageError("BLAS: " + symbol.name + ": expected sizes below 2^31 (its integers have 32 bits), found " + std::to_string(size));
    }
  }
  symbol.is_cblas ? call_cblas<T, Integer>(symbol.address, call) : call_fortran<T, Integer>(symbol.address, call);
}

}  // namespace

BlasLibrary::BlasLibrary(const std::string& path) : path_(path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* reason = dlerror();
    throw FileError("BLAS library: " + path +
                    ": expected a shared library that loads, found: " + (reason != nullptr ? reason : "no reason"));
  }
  const auto dgemm = find_gemm(handle_, 'd');
  const auto sgemm = find_gemm(handle_, 's');
  if (!dgemm || !sgemm) {
    dlclose(handle_);
    throw FileError("BLAS library: " + path +
                    ": expected the functions cblas_dgemm and cblas_sgemm or dgemm_ and sgemm_ (known prefixes and "
                    "suffixes allowed), found " +
                    (dgemm   ? "no sgemm"
                     : sgemm ? "no dgemm"
                             : "neither"));
  }
  dgemm_ = *dgemm;
  sgemm_ = *sgemm;
}

template <class T>
void BlasLibrary::gemm(Transpose transpose_a, Transpose transpose_b, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
                       MatrixView<T> c) const {
  const Call<T> call = make_call(transpose_a, transpose_b, alpha, a, b, beta, c);
  if (call.m == 0 || call.n == 0) return;
  const GemmSymbol& symbol = std::is_same_v<T, double> ? dgemm_ : sgemm_;
  symbol.wide_integers ? call_with<T, std::int64_t>(symbol, call) : call_with<T, std::int32_t>(symbol, call);
}

template void BlasLibrary::gemm(Transpose, Transpose, float, MatrixView<const float>, MatrixView<const float>, float,
                                MatrixView<float>) const;
template void BlasLibrary::gemm(Transpose, Transpose, double, MatrixView<const double>, MatrixView<const double>, double,
                                MatrixView<double>) const;

}  // namespace attn
