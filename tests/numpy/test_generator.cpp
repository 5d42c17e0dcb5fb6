// Numbers drawn one by one, against NumPy's.
#include "numpy/generator.h"

#include <bit>
#include <fstream>
#include <limits>

#include "catch.h"
#include "machine/error.h"
#include "numpy/vectors.h"
#include "numpy/ziggurat_tables.h"

using namespace attn;

TEST_CASE("the ziggurat's tables are NumPy's") {
  const nlohmann::json tables = nlohmann::json::parse(std::ifstream(ATTN_DATA_DIR "/numpy/ziggurat_normal_f64.json"));
  CHECK(words(tables.at("ki")) == std::vector<std::uint64_t>(ziggurat_ki.begin(), ziggurat_ki.end()));
  CHECK(doubles(tables.at("wi")) == std::vector<double>(ziggurat_wi.begin(), ziggurat_wi.end()));
  CHECK(doubles(tables.at("fi")) == std::vector<double>(ziggurat_fi.begin(), ziggurat_fi.end()));
  CHECK(parse_double(tables.at("r")) == ziggurat_r);
  CHECK(parse_double(tables.at("inv_r")) == ziggurat_inv_r);
}

TEST_CASE("random and standard_normal give NumPy's numbers") {
  for (const nlohmann::json& stream : numpy_streams()) {
    Generator uniform = default_rng(seed_of(stream));
    for (const double x : doubles(stream.at("random"))) CHECK(uniform.random() == x);
    CHECK(uniform.position() == 8);
    Generator normal = default_rng(seed_of(stream));
    for (const double x : doubles(stream.at("standard_normal"))) CHECK(normal.standard_normal() == x);
  }
}

TEST_CASE("normal, then uniform, from one stream") {
  for (const nlohmann::json& stream : numpy_streams()) {
    Generator generator = default_rng(seed_of(stream));
    for (const double x : doubles(stream.at("normal_loc_1_5_scale_0_25"))) CHECK(generator.normal(1.5, 0.25) == x);
    for (const double x : doubles(stream.at("then_uniform_m1_1"))) CHECK(generator.uniform(-1, 1) == x);
  }
}

TEST_CASE("seed and position say where a draw begins") {
  Generator first = default_rng(5);
  for (int i = 0; i < 1000; ++i) first.standard_normal();
  const uint128 position = first.position();
  CHECK(position >= 1000);
  Generator second = default_rng(5);
  second.advance(position);
  CHECK(second.position() == position);
  CHECK(second.bits() == first.bits());
  CHECK(second.standard_normal() == first.standard_normal());
}

TEST_CASE("parameters that NumPy refuses are refused") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Generator generator = default_rng(0);
  std::vector<double> out(3);
  CHECK_THROWS_AS(generator.normal(0, -1), UsageError);
  CHECK_THROWS_AS(generator.fill_normal(out, 0, -1), UsageError);
  CHECK_THROWS_AS(generator.uniform(1, 0), UsageError);
  CHECK_THROWS_AS(generator.uniform(0, inf), UsageError);
  CHECK_THROWS_AS(generator.uniform(0, nan), UsageError);
  CHECK_THROWS_AS(generator.fill_uniform(out, 1, 0), UsageError);
  CHECK(generator.position() == 0);
}
