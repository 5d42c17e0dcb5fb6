#include "numpy/round.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"

using namespace attn;

namespace {

template <class T>
std::vector<T> numbers(const nlohmann::json& texts) {
  std::vector<T> values;
  for (const std::string text : texts) values.push_back(static_cast<T>(std::strtod(text.c_str(), nullptr)));
  return values;
}

// The same number, NaN and the zero's sign included.
template <class T>
bool same(T x, T y) {
  return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
}

template <class T>
void check_case(const nlohmann::json& round_case) {
  const std::vector<T> values = numbers<T>(round_case.at("values"));
  const std::vector<T> expected = numbers<T>(round_case.at("rounded"));
  const int decimals = round_case.at("decimals");
  std::vector<T> in_place = values;
  round_decimals(std::span<T>(in_place), decimals);
  const Matrix<T> matrix = round_decimals(MatrixView<const T>(values.data(), 1, static_cast<Index>(values.size())), decimals);
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(round_case.at("dtype") << ' ' << values[i] << " to " << decimals << " decimals");
    CHECK(same(round_decimals(values[i], decimals), expected[i]));
    CHECK(same(in_place[i], expected[i]));
    CHECK(same(matrix.data()[i], expected[i]));
  }
}

}  // namespace

TEST_CASE("numbers round as in NumPy") {
  std::ifstream file(std::string(ATTN_DATA_DIR) + "/numpy/round_cases.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  REQUIRE(cases.size() == 30);
  for (const nlohmann::json& round_case : cases) {
    if (round_case.at("dtype") == "float64") {
      check_case<double>(round_case);
    } else {
      check_case<float>(round_case);
    }
  }
}
