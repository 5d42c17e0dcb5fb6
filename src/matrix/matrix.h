// Row-major matrices: MatrixView<T> looks at memory, Matrix<T> owns it.
//
// Rows are stored one after another, `row_stride` elements apart; elements of a row are neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "machine/allocation.h"
#include "machine/error.h"

namespace attn {

// Sizes and positions. Signed, so that differences (an offset, a window's edge) need no conversion.
using Index = std::int64_t;

// A view of `rows` x `cols` elements; does not own them. MatrixView<const T> is read-only.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, Index rows, Index cols, Index row_stride) : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride) {}
  MatrixView(T* data, Index rows, Index cols) : MatrixView(data, rows, cols, cols) {}

  // A view that may write converts to one that may not.
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data_, rows_, cols_, row_stride_}; }

  T* data() const { return data_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index row_stride() const { return row_stride_; }
  Index size() const { return rows_ * cols_; }

  T* row(Index i) const { return data_ + i * row_stride_; }
  T& operator()(Index i, Index j) const { return data_[i * row_stride_ + j]; }

  // Rows [first_row, first_row + rows) and columns likewise; the caller keeps them inside.
  MatrixView block(Index first_row, Index first_col, Index rows, Index cols) const {
    return {data_ + first_row * row_stride_ + first_col, rows, cols, row_stride_};
  }

 private:
  T* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
  Index row_stride_ = 0;
};

// Owns `rows` x `cols` elements without padding between rows (row_stride == cols), 64-byte aligned.
template <class T>
class Matrix {
 public:
  Matrix() = default;

  // Uninitialised elements. Throws UsageError for a negative size, MemoryError where memory does not suffice or bytes overflow.
  Matrix(Index rows, Index cols) : rows_(rows), cols_(cols), memory_(allocate(checked_bytes(rows, cols))) {}

  // All elements equal `value`.
  Matrix(Index rows, Index cols, T value) : Matrix(rows, cols) { std::fill_n(data(), size(), value); }

  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    swap(other);
    return *this;
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  T* data() { return static_cast<T*>(memory_.get()); }
  const T* data() const { return static_cast<const T*>(memory_.get()); }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * sizeof(T); }

  T& operator()(Index i, Index j) { return data()[i * cols_ + j]; }
  const T& operator()(Index i, Index j) const { return data()[i * cols_ + j]; }

  MatrixView<T> view() { return {data(), rows_, cols_}; }
  MatrixView<const T> view() const { return {data(), rows_, cols_}; }
  operator MatrixView<T>() { return view(); }
  operator MatrixView<const T>() const { return view(); }

 private:
  void swap(Matrix& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(memory_, other.memory_);
  }

  static std::size_t checked_bytes(Index rows, Index cols) {
    if (rows < 0 || cols < 0) throw UsageError("matrix: shape: expected sizes of 0 or more");
    Index elements = 0;
    Index bytes = 0;
    if (__builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(elements, Index{sizeof(T)}, &bytes)) {
      throw MemoryError("matrix: shape: the number of bytes does not fit into 64 bits");
    }
    return static_cast<std::size_t>(bytes);
  }

  Index rows_ = 0;
  Index cols_ = 0;
  Allocation memory_;
};

// A copy of a view, without padding, in its own memory.
template <class T>
Matrix<std::remove_const_t<T>> copy(MatrixView<T> source) {
  Matrix<std::remove_const_t<T>> result(source.rows(), source.cols());
  for (Index i = 0; i < source.rows(); ++i) std::copy_n(source.row(i), source.cols(), result.view().row(i));
  return result;
}

}  // namespace attn
