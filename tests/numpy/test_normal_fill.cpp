// Many normals at once: the same as one by one, on every target, with any number of threads and wherever the stream is cut.
#include "numpy/normal_fill.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "catch.h"
#include "numpy/generator.h"
#include "numpy/parse_one_by_one.h"
#include "numpy/vectors.h"
#include "support/for_each_target.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

Pcg64 advanced(Pcg64 bits, Index words) {
  bits.advance(static_cast<uint128>(words));
  return bits;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// Whether the fill gives these normals, uses the words that they need, and writes nothing behind them.
bool fill_agrees(const Pcg64& bits, const std::vector<PlacedNormal>& expected, Index count, int threads, Index piece_words) {
  std::vector<double> out(static_cast<std::size_t>(count + 1), 99.0);
  const Index used = fill_standard_normals(bits, std::span(out).first(static_cast<std::size_t>(count)), threads, piece_words);
  if (used != (count == 0 ? 0 : expected[static_cast<std::size_t>(count - 1)].end) || out.back() != 99.0) return false;
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (std::memcmp(&out[i], &expected[i].value, sizeof(double)) != 0) return false;
  }
  return true;
}

std::string sha256(std::span<const double> numbers) {
  const TemporaryFolder folder;
  const std::string file = folder / "numbers";
  folder.write("numbers", {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  const std::string command = "\"" ATTN_CMAKE_COMMAND "\" -E sha256sum \"" + file + "\"";
  std::string digest(64, ' ');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(command.c_str(), "r"), pclose);
  REQUIRE(output != nullptr);
  REQUIRE(std::fread(digest.data(), 1, digest.size(), output.get()) == digest.size());
  return digest;
}

// Places in the stream where draws begin that took the most words, and some from the tail, up to 200000 normals.
std::vector<Index> places_of_long_draws(const Pcg64& bits) {
  std::vector<PlacedNormal> normals = parse_one_by_one(bits, 200'000);
  std::stable_sort(normals.begin(), normals.end(),
                   [](const PlacedNormal& a, const PlacedNormal& b) { return a.end - a.begin > b.end - b.begin; });
  std::vector<Index> places;
  for (int i = 0; i < 4; ++i) places.push_back(normals[static_cast<std::size_t>(i)].begin);
  int tails = 0;
  for (const PlacedNormal& normal : normals) {
    if (std::abs(normal.value) <= ziggurat_r || tails == 6) continue;
    places.push_back(normal.begin);
    ++tails;
  }
  return places;
}

// Places of long draws whose second word is refused as well, so that a parse begun there is not in step at once.
std::vector<Index> places_of_overlapping_draws(const Pcg64& bits) {
  std::vector<Index> places;
  for (const PlacedNormal& normal : parse_one_by_one(bits, 100'000)) {
    if (normal.end - normal.begin < 2) continue;
    if (parse_one_by_one(advanced(bits, normal.begin + 1), 1).front().end > 1) places.push_back(normal.begin);
  }
  return places;
}

}  // namespace

TEST_CASE("the first million normals of every seed have NumPy's SHA-256, with any number of threads on any target") {
  std::vector<double> expected(1'000'000);
  std::vector<double> out(expected.size());
  std::size_t seeds = 0;
  for (const nlohmann::json& stream : numpy_streams()) {
    if (sanitized && ++seeds > 3) break;
    CAPTURE(stream.at("seed").dump());
    Generator generator(seed_of(stream));
    generator.fill_standard_normal(expected, 1);
    CHECK(sha256(expected) == stream.at("standard_normal_1e6_sha256_le_f64").get<std::string>());
    for (const auto& [index, value] : stream.at("standard_normal_tail").get<std::vector<std::pair<std::size_t, std::string>>>()) {
      CHECK(expected[index] == parse_double(value));
    }
    for_each_target([&] {
      for (const int threads : {1, 2, 3, 7}) {
        CAPTURE(threads);
        Generator again(seed_of(stream));
        again.fill_standard_normal(out, threads);
        CHECK(same_bits(out, expected));
        CHECK(again.position() == generator.position());
        CHECK(again.bits() == generator.bits());
      }
    });
  }
}

TEST_CASE("the vectors' numbers come from fills too, on every target") {
  for_each_target([] {
    for (const nlohmann::json& stream : numpy_streams()) {
      const Pcg64 bits(seed_of(stream));
      const std::vector<double> normals = doubles(stream.at("standard_normal"));
      std::vector<double> out(normals.size());
      fill_standard_normals(bits, out, 1);
      CHECK(out == normals);
      const std::vector<double> uniforms = doubles(stream.at("random"));
      out.resize(uniforms.size());
      Generator(bits).fill_random(out);
      CHECK(out == uniforms);
      Generator generator(bits);
      const std::vector<double> scaled = doubles(stream.at("normal_loc_1_5_scale_0_25"));
      out.resize(scaled.size());
      generator.fill_normal(out, 1.5, 0.25);
      CHECK(out == scaled);
      generator.fill_uniform(out, -1, 1);
      CHECK(out == doubles(stream.at("then_uniform_m1_1")));
    }
  });
}

TEST_CASE("pieces of any size and any number of threads join to the same stream") {
  const Pcg64 bits(Seed(2024));
  const std::vector<PlacedNormal> expected = parse_one_by_one(bits, 20'000);
  for_each_target([&] {
    for (const int threads : {1, 2, 3, 7}) {
      for (const Index piece_words : {1, 2, 3, 5, 17}) {
        CAPTURE(threads, piece_words);
        CHECK(fill_agrees(bits, expected, 300, threads, piece_words));
      }
      for (const Index piece_words : {64, 97, 1000, 1023, 1024, 1025, 4096, 16384}) {
        CAPTURE(threads, piece_words);
        CHECK(fill_agrees(bits, expected, 20'000, threads, piece_words));
      }
    }
  });
}

TEST_CASE("a fill may end anywhere, and what is drawn next is right") {
  const Pcg64 bits(Seed(8));
  const std::vector<PlacedNormal> expected = parse_one_by_one(bits, 1500);
  Index wrong = 0;
  for (Index count = 0; count <= 1500; ++count) {
    for (const int threads : {1, 2}) wrong += !fill_agrees(bits, expected, count, threads, 150);
  }
  CHECK(wrong == 0);
}

TEST_CASE("cuts in and around tail, wedge and rejected draws") {
  const Pcg64 bits{Seed(0)};
  const std::vector<Index> places = places_of_long_draws(bits);
  REQUIRE(places.size() == 10);
  for (const Index place : places) {
    CAPTURE(place);
    // The starts move by a word, so that every cut between pieces of about 50 words moves through the draw.
    for (Index start = std::max(place - 130, Index{0}); start < place - 70; ++start) {
      const Pcg64 from = advanced(bits, start);
      const std::vector<PlacedNormal> expected = parse_one_by_one(from, 200);
      for (const int threads : {1, 2, 3}) CHECK(fill_agrees(from, expected, 200, threads, 50));
    }
    // Likewise for the end of a block of 1024 words within a piece.
    for (Index start = std::max(place - 1024 - 2, Index{0}); start <= place - 1024 + 20; ++start) {
      const Pcg64 from = advanced(bits, start);
      const std::vector<PlacedNormal> expected = parse_one_by_one(from, 1300);
      for_each_target([&] { CHECK(fill_agrees(from, expected, 1300, 1, 4096)); });
    }
  }
}

TEST_CASE("pieces shorter than a draw, where the guessed parse is out of step") {
  const Pcg64 bits{Seed(0)};
  const std::vector<Index> places = places_of_overlapping_draws(bits);
  REQUIRE(places.size() > 5);
  for (const Index place : places) {
    for (Index start = std::max(place - 4, Index{0}); start <= place; ++start) {
      const Pcg64 from = advanced(bits, start);
      const std::vector<PlacedNormal> expected = parse_one_by_one(from, 10);
      for (const Index piece_words : {1, 2, 3}) {
        for (Index count = 1; count <= 10; ++count) CHECK(fill_agrees(from, expected, count, 2, piece_words));
      }
    }
  }
}

TEST_CASE("consecutive fills equal one") {
  std::vector<double> whole(300'000);
  Generator generator(99);
  generator.fill_standard_normal(whole, 2);
  for_each_target([&] {
    for (const int threads : {1, 2, 3}) {
      Generator parts(99);
      std::vector<double> out(whole.size(), 99.0);
      std::span<double> rest = out;
      for (const std::size_t size : {0, 1, 255, 256, 257, 5000, 1, 70'001, 3}) {
        parts.fill_standard_normal(rest.first(size), threads);
        rest = rest.subspan(size);
      }
      rest.front() = parts.standard_normal();
      parts.fill_standard_normal(rest.subspan(1), threads);
      CHECK(same_bits(out, whole));
      CHECK(parts.position() == generator.position());
      CHECK(parts.bits() == generator.bits());
    }
  });
}

TEST_CASE("a block recorded by its position can be drawn alone") {
  Generator all(Seed::parse("340282366920938463463374607431768211463"));
  std::vector<double> before(123'457);
  std::vector<double> block(50'000);
  all.fill_standard_normal(before, 2);
  const uint128 position = all.position();
  all.fill_standard_normal(block, 2);
  Generator alone(Seed::parse("340282366920938463463374607431768211463"));
  alone.advance(position);
  std::vector<double> again(block.size());
  alone.fill_standard_normal(again, 1);
  CHECK(same_bits(again, block));
  CHECK(alone.position() == all.position());
}

TEST_CASE("fills of random, uniform and normal equal single draws") {
  for_each_target([] {
    for (const int threads : {1, 2, 7}) {
      for (const std::size_t size : {0, 1, 33, 1024, 16'384, 16'385, 140'001}) {
        Generator filled(5);
        Generator single(5);
        std::vector<double> out(size);
        std::size_t wrong = 0;
        filled.fill_random(out, threads);
        for (const double x : out) wrong += x != single.random();
        filled.fill_uniform(out, -3, 0.1, threads);
        for (const double x : out) wrong += x != single.uniform(-3, 0.1);
        filled.fill_normal(out, 1e-3, 0.7, threads);
        for (const double x : out) wrong += x != single.normal(1e-3, 0.7);
        CHECK(wrong == 0);
        CHECK(filled.position() == single.position());
        CHECK(filled.bits() == single.bits());
      }
    }
  });
}
