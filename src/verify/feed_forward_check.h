// Is z = gelu(y W_in) W_out what a feed-forward part computed, on some of its rows?
//
// The hidden row's error is that of its product (row_product.h) times the slope of GELU, at most 1.13, and what GELU itself rounds:
// 3 + 3 |u| units in the last place (transformer/gelu.h). It goes through W_out as independent errors do.
#pragma once

#include <vector>

#include "verify/row_product.h"

namespace attn {

// y (n, d_model), w_in (d_model, d_hidden), w_out (d_hidden, d_model), z (n, d_model). Sizes must fit. T is float or double.
template <class T>
LargestShare check_feed_forward(MatrixView<const T> y, MatrixView<const T> w_in, MatrixView<const T> w_out, MatrixView<const T> z,
                                const std::vector<Index>& rows);

}  // namespace attn
