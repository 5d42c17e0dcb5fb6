// `attn demo`: the worked examples of both documents.
#pragma once

#include <vector>

#include "numpy/seed_sequence.h"
#include "report/report.h"
#include "worked_example.h"

namespace attn {

// The blocks of one document's example, in the order in which it prints them. Document 1: example, token-0, pytorch. Document 2: shapes,
// weights. The PyTorch block has numbers only for the document's own sizes and seed 0: those are what PyTorch was run on.
std::vector<Block> demo_blocks(int document, const ExampleSizes& sizes, const Seed& seed);

// "(6, 8)", as Python prints a shape.
std::string shape_text(Index rows, Index cols);

// The sums of the rows, added from left to right.
template <class T>
std::vector<T> row_sums(MatrixView<const T> matrix);

// RoundedCells for each element of two equally long rows.
void add_rounded(Block& block, const std::string& name, std::span<const double> values, std::span<const long double> precise, int decimals);

}  // namespace attn
