// What is in a tensor file: a type of element, a shape and the elements, row-major without gaps, in this machine's byte order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/half.h"
#include "machine/allocation.h"
#include "matrix/matrix.h"
#include "matrix/shape.h"

namespace attn {

enum class Dtype { f16, bf16, f32, f64, boolean, i8, i16, i32, i64, u8, u16, u32, u64 };

inline constexpr std::size_t dtype_count = 13;

// Bytes of one element.
std::size_t dtype_bytes(Dtype dtype);

// Bytes of all elements; nothing where they do not fit into 63 bits or a size is negative.
std::optional<Index> bytes_of_shape(Dtype dtype, const std::vector<Index>& shape);

// NumPy's name: "float16", "bfloat16", "float32", "bool", "int8", …
std::string_view dtype_name(Dtype dtype);

bool is_floating_point(Dtype dtype);
bool is_integer(Dtype dtype);  // bool is none

// Calls visit(std::type_identity<T>()) with the C++ type of `dtype`.
template <class Visitor>
decltype(auto) visit_dtype(Dtype dtype, Visitor&& visit) {
  switch (dtype) {
    case Dtype::f16:
      return visit(std::type_identity<Float16>());
    case Dtype::bf16:
      return visit(std::type_identity<BFloat16>());
    case Dtype::f32:
      return visit(std::type_identity<float>());
    case Dtype::f64:
      return visit(std::type_identity<double>());
    case Dtype::boolean:
      return visit(std::type_identity<bool>());
    case Dtype::i8:
      return visit(std::type_identity<std::int8_t>());
    case Dtype::i16:
      return visit(std::type_identity<std::int16_t>());
    case Dtype::i32:
      return visit(std::type_identity<std::int32_t>());
    case Dtype::i64:
      return visit(std::type_identity<std::int64_t>());
    case Dtype::u8:
      return visit(std::type_identity<std::uint8_t>());
    case Dtype::u16:
      return visit(std::type_identity<std::uint16_t>());
    case Dtype::u32:
      return visit(std::type_identity<std::uint32_t>());
    default:
      return visit(std::type_identity<std::uint64_t>());
  }
}

// The Dtype of a C++ type that has one.
template <class T>
constexpr Dtype dtype_of();

class Tensor {
 public:
  // Uninitialised elements. Throws UsageError for a negative size, MemoryError where memory does not suffice or bytes overflow.
  Tensor(Dtype dtype, std::vector<Index> shape);

  // A copy of a matrix, of shape (rows, cols).
  template <class T>
  static Tensor from_matrix(MatrixView<const T> matrix);

  Dtype dtype() const { return dtype_; }
  const std::vector<Index>& shape() const { return shape_; }
  Index size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * dtype_bytes(dtype_); }

  void* data() { return memory_.get(); }
  const void* data() const { return memory_.get(); }

  // The elements as what they are. Throws UsageError where T is another type.
  template <class T>
  std::span<T> as();
  template <class T>
  std::span<const T> as() const;

  // The same elements under another shape. Throws UsageError where their number differs.
  void reshape(std::vector<Index> shape);

  // The same shape with elements of type `to`, rounded once, half to even. From every type to float32 and float64; from floating-point
  // types also to float16 and bfloat16. Throws UsageError for other pairs of different types.
  Tensor converted(Dtype to) const;

  // Elements as float or double: a row for each index of all dimensions but the last. A 0-d tensor is 1 x 1, a 1-d one a single row.
  template <class T>
  Matrix<T> to_matrix() const;

  // The elements of an integer tensor. Throws UsageError for another type or a number beyond 63 bits.
  std::vector<Index> to_indices() const;

 private:
  void expect_dtype(Dtype expected) const;

  Dtype dtype_;
  std::vector<Index> shape_;
  Index size_;
  Allocation memory_;
};

template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, Float16>)
    return Dtype::f16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return Dtype::bf16;
  else if constexpr (std::is_same_v<T, float>)
    return Dtype::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Dtype::f64;
  else if constexpr (std::is_same_v<T, bool>)
    return Dtype::boolean;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return Dtype::i8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return Dtype::i16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Dtype::i32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Dtype::i64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return Dtype::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return Dtype::u16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return Dtype::u32;
  else {
    static_assert(std::is_same_v<T, std::uint64_t>);
    return Dtype::u64;
  }
}

template <class T>
Tensor Tensor::from_matrix(MatrixView<const T> matrix) {
  Tensor result(dtype_of<T>(), {matrix.rows(), matrix.cols()});
  T* to = result.as<T>().data();
  for (Index i = 0; i < matrix.rows(); ++i) std::copy_n(matrix.row(i), matrix.cols(), to + i * matrix.cols());
  return result;
}

template <class T>
std::span<T> Tensor::as() {
  expect_dtype(dtype_of<T>());
  return {static_cast<T*>(memory_.get()), static_cast<std::size_t>(size_)};
}

template <class T>
std::span<const T> Tensor::as() const {
  expect_dtype(dtype_of<T>());
  return {static_cast<const T*>(memory_.get()), static_cast<std::size_t>(size_)};
}

}  // namespace attn
