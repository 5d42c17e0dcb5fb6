// Any BLAS library, loaded at run time: OpenBLAS, BLIS, MKL, Accelerate, the one inside NumPy's wheel. No part in the build.
#pragma once

#include <string>

#include "matrix/matrix.h"
#include "measure/blas_symbols.h"

namespace attn {

enum class Transpose { no, yes };

class BlasLibrary {
 public:
  // Loads the shared library at `path` (without a slash: where the system looks for libraries) and finds its dgemm and sgemm. It stays
  // loaded until the process ends: its threads may outlive this object. Throws FileError if it cannot be loaded or has neither name.
  explicit BlasLibrary(const std::string& path);

  // Sets the library's own threads. False if it has no function for it that is known here: then its environment variable decides.
  bool set_threads(int threads) const { return set_library_threads(handle_, threads); }

  // C := alpha op(A) op(B) + beta C, row-major, op transposing or not; op(A) is m x k, op(B) k x n, C m x n. T is float or double.
  // Throws UsageError for shapes that do not fit each other or the library's integers.
  template <class T>
  void gemm(Transpose transpose_a, Transpose transpose_b, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
            MatrixView<T> c) const;

  const std::string& path() const { return path_; }
  // The library's version, configuration and core type in its own words; empty if it offers none.
  std::string description() const { return describe_library(handle_); }
  // Names of the functions that were found.
  const GemmSymbol& dgemm() const { return dgemm_; }
  const GemmSymbol& sgemm() const { return sgemm_; }

 private:
  std::string path_;
  void* handle_ = nullptr;
  GemmSymbol dgemm_;
  GemmSymbol sgemm_;
};

}  // namespace attn
