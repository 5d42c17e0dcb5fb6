#include "numpy/array_text.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "numpy/float_text.h"

using namespace attn;

namespace {

// One number as the makers write it: C99 hex, decimal integer, True or False.
template <class T>
T parse(const std::string& text) {
  if constexpr (std::is_same_v<T, bool>) return text == "True";
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(std::strtod(text.c_str(), nullptr));
  if constexpr (std::is_unsigned_v<T>) return static_cast<T>(std::strtoull(text.c_str(), nullptr, 10));
  return static_cast<T>(std::strtoll(text.c_str(), nullptr, 10));
}

template <class T>
void check_case(const nlohmann::json& print_case) {
  const std::vector<Index> shape = print_case.at("shape");
  const auto& values = print_case.at("values");
  const std::unique_ptr<T[]> data(new T[values.size() + 1]);
  for (std::size_t i = 0; i < values.size(); ++i) data[i] = parse<T>(values[i]);
  const ArrayView<T> a(shape, data.get());
  CHECK(array_str(a) == print_case.at("str").get<std::string>());
  CHECK(array_repr(a) == print_case.at("repr").get<std::string>());
}

// Runs every case of a file; gives their number.
std::size_t check_file(const std::string& name) {
  std::ifstream file(std::string(ATTN_DATA_DIR) + "/numpy/" + name);
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  const std::map<std::string, void (*)(const nlohmann::json&)> checks = {
      {"float64", check_case<double>},       {"float32", check_case<float>},       {"bool", check_case<bool>},
      {"int8", check_case<std::int8_t>},     {"int16", check_case<std::int16_t>},  {"int32", check_case<std::int32_t>},
      {"int64", check_case<std::int64_t>},   {"uint8", check_case<std::uint8_t>},  {"uint16", check_case<std::uint16_t>},
      {"uint32", check_case<std::uint32_t>}, {"uint64", check_case<std::uint64_t>}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(name << ", case " << i);
    checks.at(cases[i].at("dtype"))(cases[i]);
  }
  return cases.size();
}

}  // namespace

TEST_CASE("arrays print as in NumPy") { CHECK(check_file("print_cases.json") == 219); }

TEST_CASE("arrays at the edges of types, digits, lines and summaries print as in NumPy") {
  CHECK(check_file("more_print_cases.json") >= 200);
}

TEST_CASE("a block of a matrix prints like a packed copy of it") {
  Matrix<double> a(5, 7);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = std::sqrt(static_cast<double>(i));
  const MatrixView<const double> block = a.view().block(1, 2, 3, 4);
  const Matrix<double> packed = copy(block);
  CHECK(array_str(block) == array_str(packed));
  CHECK(array_repr(block) == array_repr(packed));
  CHECK(array_str(block) != array_str(a));
}

TEST_CASE("a row of a matrix prints as a vector") {
  Matrix<float> a(2, 3, 0.5F);
  a(1, 2) = 10.0F;
  CHECK(array_str(std::span<const float>(a.view().row(1), 3)) == "[ 0.5  0.5 10. ]");
  CHECK(array_repr(std::span<float>(a.view().row(1), 3)) == "array([ 0.5,  0.5, 10. ], dtype=float32)");
}

TEST_CASE("shortest digits read back as the same number") {
  for (double x = 1e-300; x < 1e300; x *= -7.7e3) {
    CHECK(std::strtod(scalar_text(x).c_str(), nullptr) == x);
    CHECK(std::strtod(positional_text(x, all_digits).c_str(), nullptr) == x);
    CHECK(std::strtod(scientific_text(x, all_digits).c_str(), nullptr) == x);
  }
}
