#include "io/tensor.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.h"
#include "machine/error.h"

using namespace attn;
using Catch::Matchers::Equals;

namespace {

template <class T>
Tensor make(std::vector<Index> shape, const std::vector<T>& elements) {
  Tensor tensor(dtype_of<T>(), std::move(shape));
  std::copy(elements.begin(), elements.end(), tensor.as<T>().begin());
  return tensor;
}

}  // namespace

TEST_CASE("names and sizes of types are NumPy's") {
  CHECK(dtype_name(Dtype::bf16) == "bfloat16");
  CHECK(dtype_name(Dtype::u64) == "uint64");
  CHECK(dtype_bytes(Dtype::f16) == 2);
  CHECK(dtype_bytes(Dtype::boolean) == 1);
  CHECK(dtype_bytes(Dtype::i64) == 8);
  CHECK((is_floating_point(Dtype::f16) && is_floating_point(Dtype::f64) && !is_floating_point(Dtype::boolean)));
  CHECK((is_integer(Dtype::i8) && is_integer(Dtype::u64) && !is_integer(Dtype::boolean) && !is_integer(Dtype::f32)));
}

TEST_CASE("shapes: no dimensions are one element, a size of zero none, impossible ones errors") {
  CHECK(Tensor(Dtype::f32, {}).size() == 1);
  CHECK(Tensor(Dtype::f32, {3, 0, 5}).bytes() == 0);
  CHECK_THROWS_AS(Tensor(Dtype::f32, {3, -1}), UsageError);
  CHECK_THROWS_AS(Tensor(Dtype::f32, {Index{1} << 61}), MemoryError);
  CHECK_THROWS_AS(Tensor(Dtype::u8, {Index{1} << 32, Index{1} << 32}), MemoryError);
  CHECK_THROWS_AS(Tensor(Dtype::u8, {0, Index{1} << 62, 4}), MemoryError);
}

TEST_CASE("elements are given out as what they are only") {
  Tensor tensor(Dtype::i32, {2});
  CHECK(tensor.as<std::int32_t>().size() == 2);
  CHECK_THROWS_WITH(tensor.as<float>(), Equals("tensor: dtype: expected float32, found int32"));
}

TEST_CASE("a tensor takes another shape of as many elements") {
  Tensor tensor = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  tensor.reshape({3, 1, 2});
  CHECK(tensor.shape() == std::vector<Index>{3, 1, 2});
  CHECK(tensor.as<float>()[5] == 6.0F);
  CHECK_THROWS_WITH(tensor.reshape({7}), Equals("tensor: shape: expected one of 6 elements, found (7,)"));
}

TEST_CASE("conversions round once") {
  // Beyond 2^24 and 2^53 integers are rounded, half to even.
  const Tensor large = make<std::int64_t>({3}, {(1 << 24) + 1, (1 << 24) + 3, (std::int64_t{1} << 53) + 1});
  const Tensor f32 = large.converted(Dtype::f32);
  CHECK(f32.as<float>()[0] == 16777216.0F);
  CHECK(f32.as<float>()[1] == 16777220.0F);
  CHECK(large.converted(Dtype::f64).as<double>()[2] == 9007199254740992.0);
  // Just above the middle of two float16: by way of float32 it would become the middle, and then the even one below.
  const Tensor twice = make<double>({1}, {1.0 + 0x1p-11 + 0x1p-40});
  CHECK(twice.converted(Dtype::f16).as<Float16>()[0].bits == 0x3C01);
  CHECK(twice.converted(Dtype::f32).converted(Dtype::f16).as<Float16>()[0].bits == 0x3C00);
  const Tensor flags = make<bool>({2}, {true, false});
  CHECK(flags.converted(Dtype::f32).as<float>()[0] == 1.0F);
  const Tensor half = make<Float16>({1}, {Float16(0.1F)});
  CHECK(half.converted(Dtype::bf16).as<BFloat16>()[0].bits == BFloat16(static_cast<float>(Float16(0.1F))).bits);
  CHECK(half.converted(Dtype::f16).as<Float16>()[0].bits == half.as<Float16>()[0].bits);
}

TEST_CASE("conversions that lose more than rounding are refused") {
  CHECK_THROWS_WITH(Tensor(Dtype::f32, {1}).converted(Dtype::i32),
                    Equals("tensor: dtype: expected one that converts to int32, found float32"));
  CHECK_THROWS_AS(Tensor(Dtype::i32, {1}).converted(Dtype::f16), UsageError);
  CHECK_THROWS_AS(Tensor(Dtype::f32, {1}).converted(Dtype::boolean), UsageError);
}

TEST_CASE("tensors become matrices and back") {
  const Tensor tensor = make<float>({2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Matrix<double> rows = tensor.to_matrix<double>();
  CHECK((rows.rows() == 4 && rows.cols() == 3));
  CHECK(rows(3, 1) == 10.0);
  CHECK(Tensor(Dtype::f64, {}).to_matrix<double>().size() == 1);
  CHECK(Tensor(Dtype::f64, {5}).to_matrix<float>().rows() == 1);
  CHECK(Tensor(Dtype::f64, {4, 0}).to_matrix<float>().rows() == 4);
  const Tensor block = Tensor::from_matrix<double>(rows.view().block(1, 1, 2, 2));
  CHECK(block.shape() == std::vector<Index>{2, 2});
  CHECK(block.as<double>()[3] == 8.0);
}

TEST_CASE("integer tensors are read as indices") {
  CHECK(make<std::uint8_t>({2}, {0, 255}).to_indices() == std::vector<Index>{0, 255});
  CHECK(make<std::int32_t>({1, 2}, {-7, 5}).to_indices() == std::vector<Index>{-7, 5});
  CHECK_THROWS_AS(make<std::uint64_t>({1}, {std::numeric_limits<std::uint64_t>::max()}).to_indices(), UsageError);
  CHECK_THROWS_WITH(Tensor(Dtype::f32, {1}).to_indices(), Equals("tensor: dtype: expected integers, found float32"));
}
