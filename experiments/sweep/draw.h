// Random matrices of a sweep's rows.
#pragma once

#include "matrix/matrix.h"
#include "numpy/generator.h"

namespace attn {

// (rows, cols) standard normals from the generator, divided by `divisor` in float64 and rounded to T. Throws MemoryError.
template <class T>
Matrix<T> draw_normals(Index rows, Index cols, Generator& generator, double divisor = 1);

}  // namespace attn
