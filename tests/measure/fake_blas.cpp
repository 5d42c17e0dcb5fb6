// A tiny BLAS under any names, built once for each way in which real libraries name theirs. It multiplies with plain loops and remembers
// its last call, so that names, widths of integers and the order of arguments are put to the test.
//
// FAKE_DGEMM, FAKE_SGEMM: names. FAKE_FORTRAN: Fortran's interface, else the C one. FAKE_INTEGER: type of sizes.
// FAKE_SET_THREADS, FAKE_THREADS_TYPE, FAKE_CONFIG, FAKE_CONFIG_TEXT, FAKE_INT_SIZE: further functions, each if defined.
#include <cstddef>
#include <cstdint>

namespace {

using Integer = FAKE_INTEGER;

int last_threads = 0;
long long last_sizes[6];  // m n k lda ldb ldc as they arrived

void remember(Integer m, Integer n, Integer k, Integer lda, Integer ldb, Integer ldc) {
  const Integer sizes[6] = {m, n, k, lda, ldb, ldc};
  for (int i = 0; i < 6; ++i) last_sizes[i] = sizes[i];
}

// C(i, j) at c[i * row + j * col], and likewise for A and B.
template <class T>
void multiply(Integer m, Integer n, Integer k, T alpha, const T* a, Integer a_row, Integer a_col, const T* b, Integer b_row, Integer b_col,
              T beta, T* c, Integer c_row, Integer c_col) {
  for (Integer i = 0; i < m; ++i) {
    for (Integer j = 0; j < n; ++j) {
      T sum = 0;
      for (Integer p = 0; p < k; ++p) sum += a[i * a_row + p * a_col] * b[p * b_row + j * b_col];
      T& to = c[i * c_row + j * c_col];
      to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
    }
  }
}

#ifdef FAKE_FORTRAN
template <class T>
void gemm(const char* trans_a, const char* trans_b, const Integer* m, const Integer* n, const Integer* k, const T* alpha, const T* a,
          const Integer* lda, const T* b, const Integer* ldb, const T* beta, T* c, const Integer* ldc) {
  remember(*m, *n, *k, *lda, *ldb, *ldc);
  const bool at = *trans_a == 'T', bt = *trans_b == 'T';
  multiply<T>(*m, *n, *k, *alpha, a, at ? *lda : 1, at ? 1 : *lda, b, bt ? *ldb : 1, bt ? 1 : *ldb, *beta, c, 1, *ldc);
}
#else
template <class T>
void gemm(int order, int trans_a, int trans_b, Integer m, Integer n, Integer k, T alpha, const T* a, Integer lda, const T* b, Integer ldb,
          T beta, T* c, Integer ldc) {
  remember(m, n, k, lda, ldb, ldc);
  if (order != 101) return;  // row-major is all that is asked for
  const bool at = trans_a == 112, bt = trans_b == 112;
  multiply<T>(m, n, k, alpha, a, at ? 1 : lda, at ? lda : 1, b, bt ? 1 : ldb, bt ? ldb : 1, beta, c, ldc, 1);
}
#endif

}  // namespace

extern "C" {

#ifdef FAKE_FORTRAN
void FAKE_DGEMM(const char* ta, const char* tb, const Integer* m, const Integer* n, const Integer* k, const double* alpha, const double* a,
                const Integer* lda, const double* b, const Integer* ldb, const double* beta, double* c, const Integer* ldc, std::size_t,
                std::size_t) {
  gemm<double>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void FAKE_SGEMM(const char* ta, const char* tb, const Integer* m, const Integer* n, const Integer* k, const float* alpha, const float* a,
                const Integer* lda, const float* b, const Integer* ldb, const float* beta, float* c, const Integer* ldc, std::size_t,
                std::size_t) {
  gemm<float>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
#else
#ifdef FAKE_DGEMM
void FAKE_DGEMM(int order, int ta, int tb, Integer m, Integer n, Integer k, double alpha, const double* a, Integer lda, const double* b,
                Integer ldb, double beta, double* c, Integer ldc) {
  gemm<double>(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
#endif
void FAKE_SGEMM(int order, int ta, int tb, Integer m, Integer n, Integer k, float alpha, const float* a, Integer lda, const float* b,
                Integer ldb, float beta, float* c, Integer ldc) {
  gemm<float>(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
#endif

#ifdef FAKE_SET_THREADS
void FAKE_SET_THREADS(FAKE_THREADS_TYPE threads) { last_threads = static_cast<int>(threads); }
#endif
#ifdef FAKE_CONFIG
const char* FAKE_CONFIG() { return FAKE_CONFIG_TEXT; }
#endif
#ifdef FAKE_INT_SIZE
std::int64_t bli_info_get_blas_int_type_size() { return FAKE_INT_SIZE; }
#endif
#ifdef FAKE_MKL
void MKL_Get_Version_String(char* text, int length) {
  const char* version = "Fake MKL 1";
  int i = 0;
  for (; i + 1 < length && version[i] != '\0'; ++i) text[i] = version[i];
  text[i] = '\0';
}
#endif

int fake_threads() { return last_threads; }
const long long* fake_sizes() { return last_sizes; }
}
