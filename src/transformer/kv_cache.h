// Keys and values of the tokens so far: what generation keeps so that it need not project them again.
//
// A token's row holds its heads side by side, as the projections give it: (capacity, heads * head_dim) is (1, capacity, heads, head_dim)
// of the attention tensors (TensorView::nhd), so that attention reads the cache where it lies.
#pragma once

#include "matrix/matrix.h"

namespace attn {

template <class T>
class KvCache {
 public:
  // Empty, with room for `capacity` tokens of d_model keys and as many values. Throws MemoryError where there is none.
  KvCache(Index capacity, Index d_model) : keys_(capacity, d_model), values_(capacity, d_model) {}

  Index capacity() const { return keys_.rows(); }
  Index length() const { return length_; }

  // Rows (1, d_model) that the next token's key and value are written to; append() counts them in. Throws UsageError where the cache is
  // full.
  MatrixView<T> next_key() { return keys_.view().block(checked_next(), 0, 1, keys_.cols()); }
  MatrixView<T> next_value() { return values_.view().block(checked_next(), 0, 1, values_.cols()); }
  void append() { length_ = checked_next() + 1; }

  // Forgets all tokens from `length` on. Throws UsageError where there are not so many.
  void truncate(Index length);

  // (length, d_model)
  MatrixView<const T> keys() const { return keys_.view().block(0, 0, length_, keys_.cols()); }
  MatrixView<const T> values() const { return values_.view().block(0, 0, length_, values_.cols()); }

  // Of all rows, used or not.
  std::size_t bytes() const { return keys_.bytes() + values_.bytes(); }

 private:
  Index checked_next() const;

  Matrix<T> keys_;
  Matrix<T> values_;
  Index length_ = 0;
};

}  // namespace attn
