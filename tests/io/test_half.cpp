#include "io/half.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "catch.h"
#include "io/tensor_file.h"

using namespace attn;

namespace {

// The definition of a binary interchange format: (-1)^s 2^(e - bias) 1.f, for e = 0 (-1)^s 2^(1 - bias) 0.f.
double definition(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1);
  const double sign = (bits >> 15 & 1U) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  const double significand = fraction + (exponent > 0 ? std::ldexp(1.0, fraction_bits) : 0.0);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - fraction_bits);
}

template <class Half>
double widen(std::uint32_t bits) {
  return static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits)));
}

// Every boundary between two neighbours a and b: the middle goes to the even one, everything nearer to one goes there. Since rounding is
// monotonic, that settles all numbers.
template <class Half, class T>
void check_boundaries(std::uint32_t infinity) {
  std::size_t wrong = 0;
  const T limit = std::numeric_limits<T>::infinity();
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double a = widen<Half>(bits);
    // What comes behind the largest number, as if the exponents went on: from its middle on everything is infinity.
    const double b = bits + 1 < infinity ? widen<Half>(bits + 1) : 2 * a - widen<Half>(bits - 1);
    const T middle = static_cast<T>(a + (b - a) / 2);
    const std::uint32_t even = bits + (bits & 1U);
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const T s = sign != 0 ? T(-1) : T(1);
      wrong += Half(s * middle).bits != (even | sign);
      wrong += Half(s * std::nextafter(middle, T(0))).bits != (bits | sign);
      wrong += Half(s * std::nextafter(middle, limit)).bits != ((bits + 1) | sign);
      wrong += Half(s * static_cast<T>(a)).bits != (bits | sign);
    }
  }
  CHECK(wrong == 0);
  CHECK(Half(limit).bits == infinity);
  CHECK(Half(std::numeric_limits<T>::max()).bits == infinity);
  CHECK(std::isnan(static_cast<float>(Half(std::numeric_limits<T>::quiet_NaN()))));
  CHECK(Half(std::numeric_limits<T>::denorm_min()).bits == 0);
  CHECK(Half(-std::numeric_limits<T>::denorm_min()).bits == 0x8000U);
}

template <class Half>
std::size_t differences(const Tensor& wide, const Tensor& narrow) {
  const Tensor converted = wide.converted(dtype_of<Half>());
  std::size_t wrong = 0;
  for (Index i = 0; i < wide.size(); ++i) wrong += converted.as<Half>()[i].bits != narrow.as<Half>()[i].bits;
  return wrong;
}

}  // namespace

TEST_CASE("16-bit floats widen to what their definition says") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto same = [](double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y); };
    wrong += !same(definition(bits, 5, 10), widen<Float16>(bits));
    wrong += !same(definition(bits, 8, 7), widen<BFloat16>(bits));
  }
  CHECK(wrong == 0);
}

TEST_CASE("every boundary between 16-bit floats rounds half to even") {
  check_boundaries<Float16, float>(0x7C00U);
  check_boundaries<Float16, double>(0x7C00U);
  check_boundaries<BFloat16, float>(0x7F80U);
  check_boundaries<BFloat16, double>(0x7F80U);
}

TEST_CASE("a NaN whose payload would be rounded away stays a NaN") {
  for (const std::uint32_t bits : {0x7F800001U, 0xFF800001U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    const float nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(static_cast<float>(Float16(nan))));
    CHECK(std::isnan(static_cast<float>(BFloat16(nan))));
    CHECK(std::signbit(static_cast<float>(Float16(nan))) == std::signbit(nan));
  }
}

TEST_CASE("numbers round to 16 bits as in NumPy and ml_dtypes") {
  const std::string file = ATTN_DATA_DIR "/io/half_cases.npz#";
  const Tensor f32 = read_tensor(file + "f32");
  const Tensor f64 = read_tensor(file + "f64");
  REQUIRE(f32.size() > 3000);
  CHECK(differences<Float16>(f32, read_tensor(file + "f16_of_f32")) == 0);
  CHECK(differences<BFloat16>(f32, read_tensor(file + "bf16_of_f32")) == 0);
  CHECK(differences<Float16>(f64, read_tensor(file + "f16_of_f64")) == 0);
}
