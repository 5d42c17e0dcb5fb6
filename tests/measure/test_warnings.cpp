// Warnings as data: when they are given and when not.
#include <string>
#include <vector>

#include "catch.h"
#include "measure/warnings.h"

using namespace attn;

namespace {

// Ten samples around 100 whose quartiles lie `half_iqr` to both sides.
std::vector<double> with_noise(double half_iqr) {
  const double low = 100 - half_iqr;
  const double high = 100 + half_iqr;
  return {low, low, low, low, 100, 100, high, high, high, high};
}

}  // namespace

TEST_CASE("noise warns above 5 % and in stronger words above 12 %") {
  CHECK(warnings_of_samples(with_noise(4.9)).empty());
  const auto some = warnings_of_samples(with_noise(6));
  REQUIRE(some.size() == 1);
  CHECK(some[0].kind == WarningKind::noise);
  CHECK_FALSE(some[0].strong);
  CHECK(some[0].value == Approx(0.06));
  const auto much = warnings_of_samples(with_noise(13));
  REQUIRE(much.size() == 1);
  CHECK(much[0].strong);
  CHECK(much[0].text != some[0].text);
  CHECK(warnings_of_samples(std::vector<double>{1, 2, 3, 900}).empty());  // too few to say anything
}

TEST_CASE("outliers are counted") {
  auto samples = with_noise(1);
  samples.push_back(400);
  const auto warnings = warnings_of_samples(samples);
  REQUIRE(warnings.size() == 1);
  CHECK(name_of(warnings[0].kind) == "outliers");
  CHECK(warnings[0].value == 1);
}

TEST_CASE("what cannot be seen is not warned of") {
  CHECK_FALSE(load_warning(std::nullopt).has_value());
  CHECK_FALSE(load_warning(0.05).has_value());
  CHECK(load_warning(0.3).has_value());
  CHECK(load_warning(1.5)->strong);
  CHECK_FALSE(scaling_warning(std::nullopt).has_value());
  CHECK_FALSE(scaling_warning(false).has_value());
  CHECK(scaling_warning(true).has_value());
}

TEST_CASE("a rate above its ceiling is suspicious") {
  CHECK_FALSE(ceiling_warning(99, 100, "GFLOP/s").has_value());
  const auto warning = ceiling_warning(110, 100, "GFLOP/s");
  REQUIRE(warning.has_value());
  CHECK(warning->value == 110);
  CHECK(warning->limit == 100);
  CHECK(warning->text.find("110 GFLOP/s") != std::string::npos);
}

TEST_CASE("growth other than the operation count is said, noise about it is not") {
  const std::vector<double> sizes{512, 1024, 2048, 4096};
  std::vector<double> square;
  std::vector<double> cube;
  std::vector<double> nearly_square;
  for (const double n : sizes) {
    square.push_back(n * n);
    cube.push_back(n * n * n);
    nearly_square.push_back(n * n * (nearly_square.size() % 2 == 0 ? 1.04 : 0.96));
  }
  const auto warning = growth_warning(sizes, cube, square);
  REQUIRE(warning.has_value());
  CHECK(warning->value == Approx(3));
  CHECK(warning->limit == Approx(2));
  CHECK_FALSE(growth_warning(sizes, square, square).has_value());
  CHECK_FALSE(growth_warning(sizes, nearly_square, square).has_value());
  // Off by 0.14, but so scattered that it says nothing.
  const double scatter[] = {1, 2, 0.9, 1.8};
  std::vector<double> scattered;
  for (std::size_t i = 0; i < sizes.size(); ++i) scattered.push_back(square[i] * scatter[i]);
  CHECK_FALSE(growth_warning(sizes, scattered, square).has_value());
  const std::vector<double> two{1, 2};
  CHECK_FALSE(growth_warning(two, std::vector<double>{1, 8}, std::vector<double>{1, 4}).has_value());
}
