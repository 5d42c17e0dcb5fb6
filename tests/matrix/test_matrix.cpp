#include "matrix/matrix.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "catch.h"

using namespace attn;

TEST_CASE("a matrix is aligned, row-major and moves without copying") {
  Matrix<float> a(3, 5, 2.0F);
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % cache_line_bytes == 0);
  a(2, 4) = 7.0F;
  CHECK(a.data()[14] == 7.0F);
  const float* before = a.data();
  Matrix<float> b = std::move(a);
  CHECK(b.data() == before);
  CHECK(b.rows() == 3);
  CHECK(b.bytes() == 60);
}

TEST_CASE("a view's block keeps the row stride, and copy drops it") {
  Matrix<double> a(4, 6);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = static_cast<double>(i);
  const MatrixView<const double> block = a.view().block(1, 2, 2, 3);
  CHECK(block.row_stride() == 6);
  CHECK(block(1, 2) == 16.0);
  const Matrix<double> packed = copy(block);
  CHECK(packed(1, 2) == 16.0);
  CHECK(packed.view().row_stride() == 3);
}

TEST_CASE("sizes of zero are matrices, impossible ones are errors") {
  CHECK(Matrix<double>(0, 7).size() == 0);
  CHECK(Matrix<double>(7, 0).data() == nullptr);
  CHECK_THROWS_AS(Matrix<double>(-1, 2), UsageError);
  CHECK_THROWS_AS(Matrix<double>(std::numeric_limits<Index>::max(), 2), MemoryError);
  CHECK_THROWS_AS(Matrix<double>(Index{1} << 60, 1), MemoryError);
}
