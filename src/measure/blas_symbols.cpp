#include "measure/blas_symbols.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace attn {
namespace {

enum class Width { open, wide };  // of integers: to be asked of the library, or 64 bits

struct Naming {
  std::string_view before;  // what stands before "dgemm" ...
  std::string_view after;   // ... and after it
  bool is_cblas;
  Width width;
};

constexpr std::array<Naming, 12> namings{{
    {"cblas_", "", true, Width::open},                  // OpenBLAS, BLIS, MKL, Accelerate, ATLAS, Netlib
    {"cblas_", "64_", true, Width::wide},               // OpenBLAS with SYMBOLSUFFIX=64_ (Julia, Fedora)
    {"cblas_", "_64", true, Width::wide},               // Netlib, MKL
    {"scipy_cblas_", "64_", true, Width::wide},         // NumPy's wheels
    {"scipy_cblas_", "", true, Width::open},            // SciPy's wheels
    {"cblas_", "$NEWLAPACK$ILP64", true, Width::wide},  // Accelerate
    {"cblas_", "$NEWLAPACK", true, Width::open},        //
    {"", "_", false, Width::open},                      // Fortran
    {"", "_64_", false, Width::wide},                   //
    {"", "64_", false, Width::wide},                    //
    {"scipy_", "_64_", false, Width::wide},             //
    {"scipy_", "_", false, Width::open},                //
}};

// The functions of OpenBLAS that are not BLAS, by its prefixes and suffixes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> openblas_affixes{
    {{"", ""}, {"", "64_"}, {"", "_64"}, {"scipy_", "64_"}, {"scipy_", ""}, {"", "64"}}};

void* find(void* library, const std::string& name) { return dlsym(library, name.c_str()); }

void* find_openblas(void* library, std::string_view name) {
  for (const auto& [prefix, suffix] : openblas_affixes) {
    if (void* address = find(library, std::string(prefix) + std::string(name) + std::string(suffix))) return address;
  }
  return nullptr;
}

template <class Function>
Function* as(void* address) {
  return reinterpret_cast<Function*>(address);
}

using TextFunction = const char*();

std::string text_of(void* address) {
  const char* text = address != nullptr ? as<TextFunction>(address)() : nullptr;
  return text != nullptr ? text : "";
}

// Whether a library with plain names was built with 64-bit integers. Those that cannot be asked have 32 bits.
bool has_wide_integers(void* library) {
  if (text_of(find_openblas(library, "openblas_get_config")).find("USE64BITINT") != std::string::npos) return true;
  void* blis_bits = find(library, "bli_info_get_blas_int_type_size");
  return blis_bits != nullptr && as<std::int64_t()>(blis_bits)() == 64;
}

}  // namespace

std::optional<GemmSymbol> find_gemm(void* library, char type) {
  for (const Naming& naming : namings) {
    const std::string name = std::string(naming.before) + type + "gemm" + std::string(naming.after);
    if (void* address = find(library, name)) {
      return GemmSymbol{address, name, naming.is_cblas, naming.width == Width::wide || has_wide_integers(library)};
    }
  }
  return std::nullopt;
}

bool set_library_threads(void* library, int threads) {
  if (void* openblas = find_openblas(library, "openblas_set_num_threads")) {
    as<void(int)>(openblas)(threads);
    return true;
  }
  if (void* blis = find(library, "bli_thread_set_num_threads")) {
    as<void(std::int64_t)>(blis)(threads);  // dim_t, 64 bits on 64-bit machines
    return true;
  }
  if (void* mkl = find(library, "MKL_Set_Num_Threads")) {
    as<void(int)>(mkl)(threads);
    return true;
  }
  return false;
}

std::string describe_library(void* library) {
  if (void* config = find_openblas(library, "openblas_get_config")) {
    const std::string core = text_of(find_openblas(library, "openblas_get_corename"));
    return core.empty() ? text_of(config) : text_of(config) + " (running on " + core + ")";
  }
  if (void* blis = find(library, "bli_info_get_version_str")) return "BLIS " + text_of(blis);
  if (void* mkl = find(library, "MKL_Get_Version_String")) {
    std::array<char, 256> text{};
    as<void(char*, int)>(mkl)(text.data(), static_cast<int>(text.size()) - 1);
    return text.data();
  }
  return {};
}

}  // namespace attn
