// Arrays as NumPy 2.4 prints them with its default options: 8 digits, 75 columns, the middle left out beyond 1000 items.
#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

// An array of any number of dimensions in somebody else's memory. Strides count elements, not bytes.
// T: float, double, bool or a standard integer type of 8 to 64 bits.
template <class T>
struct ArrayView {
  const T* data = nullptr;
  std::vector<Index> shape;
  std::vector<Index> strides;

  // Row-major without gaps. An empty shape is a single number (NumPy's 0-d array).
  ArrayView(std::span<const Index> shape_of_data, const T* elements)
      : data(elements), shape(shape_of_data.begin(), shape_of_data.end()), strides(shape.size(), 1) {
    for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  }
  ArrayView(std::span<const T> vector) : data(vector.data()), shape{static_cast<Index>(vector.size())}, strides{1} {}
  ArrayView(MatrixView<const T> matrix) : data(matrix.data()), shape{matrix.rows(), matrix.cols()}, strides{matrix.row_stride(), 1} {}

  Index size() const {
    Index product = 1;
    for (const Index extent : shape) product *= extent;
    return product;
  }
};

// What str(a) gives: "[[1.  0.5]\n [0.1 2. ]]".
template <class T>
std::string array_str(const ArrayView<T>& a);

// What repr(a) gives: "array([1., 2.], dtype=float32)".
template <class T>
std::string array_repr(const ArrayView<T>& a);

template <class T>
std::string array_str(const Matrix<T>& a) {
  return array_str(ArrayView<T>(a.view()));
}
template <class T>
std::string array_repr(const Matrix<T>& a) {
  return array_repr(ArrayView<T>(a.view()));
}
template <class T>
std::string array_str(MatrixView<T> a) {
  return array_str(ArrayView<std::remove_const_t<T>>(a));
}
template <class T>
std::string array_repr(MatrixView<T> a) {
  return array_repr(ArrayView<std::remove_const_t<T>>(a));
}
template <class T>
std::string array_str(std::span<T> a) {
  return array_str(ArrayView<std::remove_const_t<T>>(a));
}
template <class T>
std::string array_repr(std::span<T> a) {
  return array_repr(ArrayView<std::remove_const_t<T>>(a));
}

}  // namespace attn
