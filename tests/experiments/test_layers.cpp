// Nothing in the tree points back: which folder may include which is DESIGN's, and README's, list.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "catch.h"

namespace {

const std::map<std::string, std::set<std::string>> may_include = {
    {"machine", {"machine"}},
    {"matrix", {"machine", "matrix"}},
    {"gemm", {"machine", "matrix", "gemm"}},
    {"attention", {"machine", "matrix", "gemm", "attention"}},
    {"transformer", {"machine", "matrix", "gemm", "attention", "transformer"}},
    {"verify", {"machine", "matrix", "gemm", "attention", "verify"}},
    {"numpy", {"machine", "matrix", "numpy"}},
    {"io", {"machine", "matrix", "io"}},
    {"measure", {"machine", "matrix", "measure"}},
};

}  // namespace

TEST_CASE("folders of src include only what stands below them") {
  const std::filesystem::path source(ATTN_SOURCE_DIR);
  const std::regex include("^\\s*#\\s*include \"([a-z_]+)/[^\"]*\"");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    if (!entry.is_regular_file()) continue;
    const std::string folder = std::filesystem::relative(entry.path(), source).begin()->string();
    const auto allowed = may_include.find(folder);
    if (allowed == may_include.end()) continue;
    ++files;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include) || match[1] == "hwy" || match[1] == "sys") continue;
      INFO(entry.path() << ": " << line);
      CHECK(allowed->second.count(match[1]) == 1);
    }
  }
  CHECK(files > 20);
}

TEST_CASE("the library neither prints nor exits") {
  const std::regex forbidden("std::(cout|cerr|exit|abort|printf|puts)\\b|\\bfprintf\\(std(out|err)|\\bfmt::print\\(");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ATTN_SOURCE_DIR)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      INFO(entry.path() << ": " << line);
      CHECK_FALSE(std::regex_search(line, forbidden));
    }
  }
}
