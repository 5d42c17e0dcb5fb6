// How the four dimensions of attention's tensors (batch, heads, seq, dim) lie in a file's array.
//
//   layout   rank 4                      rank 3                  rank 2
//   hnd      (batch, heads, seq, dim)    (heads, seq, dim)       (seq, dim), one head
//   nhd      (batch, seq, heads, dim)    (seq, heads, dim)       (seq, dim), one head
//   packed                               (batch, seq, heads dim) (seq, heads dim)
#pragma once

#include <string>
#include <vector>

#include "attention/problem.h"
#include "io/tensor.h"

namespace attn {

enum class Layout { hnd, nhd, packed };

// A tensor and what the user calls it.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// "(2, 3, 4)"
std::string shape_text(const std::vector<Index>& shape);

// "q.npy (2, 3, 4)"
std::string named_shape(const NamedTensor& tensor);

// Dimensions and strides, in elements, of one contiguous array.
struct Arrangement {
  Layout layout = Layout::hnd;
  std::size_t rank = 4;
  Index batch = 1, heads = 1, seq = 0, dim = 0;

  std::vector<Index> shape() const;

  // Where the element (b, h, i, x) stands, in the array's own dimensions.
  std::vector<Index> index(Index b, Index h, Index i, Index x) const;

  // (batch, heads, seq, dim) of the array at `data`.
  template <class T>
  TensorView<T> view(T* data) const {
    if (layout == Layout::hnd) return TensorView<T>::hnd(data, batch, heads, seq, dim);
    return TensorView<T>::nhd(data, batch, heads, seq, dim);
  }

  // The same layout and rank with other sizes.
  Arrangement with(Index new_heads, Index new_seq, Index new_dim) const { return {layout, rank, batch, new_heads, new_seq, new_dim}; }
};

// Reads a tensor's shape as `layout` has it; `heads` counts for packed alone. Throws UsageError naming the tensor and its shape where its
// rank is not one of those above, or where `heads` does not divide the last dimension.
Arrangement arrange(const NamedTensor& tensor, Layout layout, Index heads);

}  // namespace attn
