// data/numpy/vectors.json: what NumPy itself gives for 20 seeds.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "numpy/seed_sequence.h"
#include "numpy/uint128.h"

namespace attn {

inline const nlohmann::json& numpy_streams() {
  static const nlohmann::json document = nlohmann::json::parse(std::ifstream(ATTN_DATA_DIR "/numpy/vectors.json"));
  return document.at("streams");
}

// A string is one integer, an array a list of them.
inline Seed seed_of(const nlohmann::json& stream) {
  const nlohmann::json& seed = stream.at("seed");
  if (seed.is_string()) return Seed::parse(seed.get<std::string>());
  std::vector<Seed> seeds;
  for (const std::string& text : seed.get<std::vector<std::string>>()) seeds.push_back(Seed::parse(text));
  return Seed::list(seeds);
}

// Hex floats, exactly.
inline double parse_double(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

inline std::vector<double> doubles(const nlohmann::json& array) {
  std::vector<double> result;
  for (const std::string& text : array.get<std::vector<std::string>>()) result.push_back(parse_double(text));
  return result;
}

inline std::vector<std::uint64_t> words(const nlohmann::json& array) {
  std::vector<std::uint64_t> result;
  for (const std::string& text : array.get<std::vector<std::string>>()) result.push_back(std::stoull(text));
  return result;
}

}  // namespace attn
