#include "numpy/round.h"

#include <cmath>

namespace attn {
namespace {

// 10^n by repeated multiplication, as NumPy has it: exact up to 10^22, infinity beyond 10^308.
double power_of_ten(int n) {
  double power = 1.0;
  for (; n > 0 && std::isfinite(power); --n) power *= 10.0;
  return power;
}

// One element; `power` is 10^|decimals| in T, since NumPy computes in the array's own type.
template <class T>
T round_with(T x, T power, int decimals) {
  if (decimals == 0) return std::nearbyint(x);
  return decimals > 0 ? std::nearbyint(x * power) / power : std::nearbyint(x / power) * power;
}

template <class T>
T power_in(int decimals) {
  return static_cast<T>(power_of_ten(decimals < 0 ? -decimals : decimals));
}

}  // namespace

template <class T>
T round_decimals(T x, int decimals) {
  return round_with(x, power_in<T>(decimals), decimals);
}

template <class T>
void round_decimals(std::span<T> values, int decimals) {
  const T power = power_in<T>(decimals);
  for (T& x : values) x = round_with(x, power, decimals);
}

template <class T>
Matrix<T> round_decimals(MatrixView<const T> a, int decimals) {
  Matrix<T> result = copy(a);
  round_decimals(std::span<T>(result.data(), static_cast<std::size_t>(result.size())), decimals);
  return result;
}

template float round_decimals(float, int);
template double round_decimals(double, int);
template void round_decimals(std::span<float>, int);
template void round_decimals(std::span<double>, int);
template Matrix<float> round_decimals(MatrixView<const float>, int);
template Matrix<double> round_decimals(MatrixView<const double>, int);

}  // namespace attn
