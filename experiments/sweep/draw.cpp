#include "sweep/draw.h"

#include <algorithm>
#include <vector>

#include "machine/threads.h"

namespace attn {

template <class T>
Matrix<T> draw_normals(Index rows, Index cols, Generator& generator, double divisor) {
  constexpr Index piece = Index{1} << 17;  // 1 MiB
  Matrix<T> matrix(rows, cols);
  std::vector<double> numbers(static_cast<std::size_t>(std::min(piece, std::max<Index>(matrix.size(), 1))));
  for (Index first = 0; first < matrix.size(); first += piece) {
    const Index count = std::min(piece, matrix.size() - first);
    generator.fill_standard_normal({numbers.data(), static_cast<std::size_t>(count)}, threads());
    std::transform(numbers.begin(), numbers.begin() + count, matrix.data() + first,
                   [divisor](double x) { return static_cast<T>(x / divisor); });
  }
  return matrix;
}

template Matrix<float> draw_normals(Index, Index, Generator&, double);
template Matrix<double> draw_normals(Index, Index, Generator&, double);

}  // namespace attn
