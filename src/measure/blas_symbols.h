// The names under which BLAS libraries offer their functions. C names differ by prefix and suffix (SciPy's builds: scipy_cblas_dgemm64_),
// Fortran's add underscores; a 64 says that integers have 64 bits, a plain name leaves it open.
#pragma once

#include <optional>
#include <string>

namespace attn {

// A function found in a loaded library.
struct GemmSymbol {
  void* address = nullptr;
  std::string name;
  bool is_cblas = false;       // C interface, which knows row-major order; else Fortran's, column-major and by reference
  bool wide_integers = false;  // 64 bits
};

// Finds general matrix multiplication in `library`, a handle of dlopen(). `type` is 'd' or 's'. The C interface is preferred.
// Empty if there is none under a known name.
std::optional<GemmSymbol> find_gemm(void* library, char type);

// Tells the library to compute with so many threads; false if it has no known function for that.
bool set_library_threads(void* library, int threads);

// What the library says of itself: version, build configuration, core type; empty if nothing.
std::string describe_library(void* library);

}  // namespace attn
