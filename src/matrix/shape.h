// Shapes of arrays with any number of dimensions: their text and the number of their elements.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "matrix/matrix.h"

namespace attn {

// As Python writes a tuple: "()", "(5,)", "(2, 3)".
inline std::string shape_text(std::span<const Index> shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

// The product of the sizes; nothing where a size is negative or the product does not fit into 63 bits. Strides must fit too, so that a
// size of 0 does not excuse the others.
inline std::optional<Index> element_count(std::span<const Index> shape) {
  Index product = 1;
  bool empty = false;
  for (const Index extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return empty ? 0 : product;
}

}  // namespace attn
