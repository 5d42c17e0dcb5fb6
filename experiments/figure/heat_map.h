// A matrix of weights with its labels: what both kinds of picture, terminal and SVG, are drawn from.
#pragma once

#include <string>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

struct HeatMap {
  std::string title;
  std::string row_axis, column_axis;                   // what rows and columns are: "query", "key"
  std::vector<std::string> row_labels, column_labels;  // UTF-8, as they came
  Matrix<double> values;                               // (row_labels, column_labels), from 0 on
  double top = 1;                                      // the end of the colour scale, which begins at 0
  std::vector<std::string> notes;                      // sentences to stand below
};

// The end of a scale that holds all values: the largest one rounded up to one significant digit, 0.437 to 0.5; 1 where all are 0.
double scale_top(MatrixView<const double> values);

}  // namespace attn
