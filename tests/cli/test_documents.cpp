// The documents through the program: its stdout against the copies in data/documents/.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/read_file.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

using Json = nlohmann::json;

namespace {

std::string document(const std::string& name) { return attn::read_file(std::string(ATTN_DATA_DIR) + "/documents/" + name + ".txt"); }

Json json_of(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome outcome = run_attn(arguments);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(outcome.out);
}

// The first result that has a member of that name.
Json member(const Json& document, const std::string& name) {
  for (const Json& row : document["results"]) {
    if (row.contains(name)) return row[name];
  }
  return {};
}

std::string without_times(const std::string& text) { return std::regex_replace(text, std::regex(" +[0-9.]+ ms"), " * ms"); }

}  // namespace

TEST_CASE("the tables of the documents come out to the character") {
  CHECK(run_attn({"scaling-sweep", "--dk", "4,16,64,256,1024"}).out == document("1-scaling"));
  CHECK(run_attn({"scaling-sweep"}).out == document("1-scaling"));
  CHECK(contains(run_attn({"demo"}).out, document("1-example")));
  CHECK(contains(run_attn({"demo"}).out, document("2-shapes")));
  CHECK(contains(run_attn({"demo", "--document", "2"}).out, document("2-weights")));
  CHECK(run_attn({"causal", "--document", "2"}).out == document("2-mask"));
  CHECK(contains(run_attn({"demo", "--document", "1"}).out, "token 0 is 44% token 4, 24% token 2, "));
  CHECK(contains(run_attn({"causal"}).out, "last row, full and causal: identical"));
  CHECK(contains(run_attn({"causal"}).out, "its weight is 1.00"));
  for (const char* name : {"timing-sweep", "timing"}) {
    const std::string out = run_attn({name, "--n", "512..4096"}).out;
    CHECK(without_times(out).starts_with(without_times(document("1-timing"))));
    CHECK(contains(out, "per doubling of n: memory x4, time x"));
  }
}

TEST_CASE("one row alone draws from the stream's beginning, as NumPy would") {
  // 0.966 and 0.320 are what document 1's script prints for d_k = 1024 alone.
  CHECK(contains(run_attn({"scaling-sweep", "--dk", "1024"}).out, " 1024 |          32.0 |                0.966 |              0.320\n"));
}

TEST_CASE("reproduce prints every block, and --check passes each on every instruction set") {
  const std::string out = run_attn({"reproduce"}).out;
  for (const char* name : {"1-example", "1-scaling", "2-shapes", "2-weights", "2-mask"}) CHECK(contains(out, document(name)));
  CHECK(contains(out, "== Document 1: "));
  CHECK(contains(out, "== Document 2: "));
  for (const char* isa : {"AVX3", "AVX2", "SSE4", "SSSE3", "SCALAR"}) {
    if (sanitized && std::string(isa) == "SCALAR") break;  // would take more than a minute
    const Outcome outcome = run_attn({"reproduce", "--check", "--isa", isa});
    if (outcome.exit_code == 2) continue;  // not on this machine
    INFO(isa << outcome.out << outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out.find("FAIL") == std::string::npos);
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 10);
    CHECK(contains(outcome.out, "PASS  1-scaling    smallest margin "));
  }
}

TEST_CASE("reproduce --check fails where a document's copy differs, and shows the line") {
  const attn::TemporaryFolder folder;
  std::filesystem::copy(std::string(ATTN_DATA_DIR) + "/documents", (folder.path() / "documents").string());
  const std::vector<std::string> check = {"reproduce", "--check", "--documents", (folder.path() / "documents").string()};
  CHECK(run_attn(check).exit_code == 0);
  std::string table = document("1-scaling");
  table.replace(table.find("0.319"), 5, "0.329");
  std::ofstream((folder.path() / "documents/1-scaling.txt").string()) << table;
  const Outcome outcome = run_attn(check);
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.out,
                 "FAIL  1-scaling    line 3: expected '   16 |           4.0 |                0.726 |              0.329', found '"));
  std::filesystem::remove((folder.path() / "documents/1-scaling.txt").string());
  CHECK(run_attn(check).exit_code == 3);
}

TEST_CASE("JSON holds the tables' numbers unrounded") {
  const Json scaling = json_of({"scaling-sweep", "--dk", "16"});
  CHECK(scaling["args"]["d_k"] == Json({16}));
  CHECK(member(scaling, "std_of_scores").get<double>() == Approx(4.0).margin(0.05));
  CHECK(member(scaling, "stream_position") == 0);
  const Json demo = json_of({"demo"});
  CHECK(member(demo, "weights").size() == 6);
  CHECK(member(demo, "weights")[0][4].get<double>() == Approx(0.44).margin(0.005));
  CHECK(member(demo, "max_difference").get<double>() <= 1e-15);
  const Json causal = json_of({"causal", "--document", "2"});
  CHECK(member(causal, "masked_scores")[0][1].is_null());
  CHECK(member(causal, "weights")[3][3].get<double>() == Approx(0.592).margin(0.0005));
  const Json timing = json_of({"timing-sweep", "--n", "64,128"});
  CHECK(member(timing, "bytes").get<double>() == 64 * 64 * 8);
  CHECK(member(timing, "growth_bytes").get<double>() == Approx(4));
  CHECK(member(json_of({"reproduce", "--check"}), "status") == "passed");
}

TEST_CASE("other sizes and seeds print their own numbers, and say that PyTorch has none for them") {
  const std::string out = run_attn({"demo", "--document", "1", "--seq", "3", "--d-model", "5", "--dk", "7", "--d-v", "2"}).out;
  CHECK(contains(out, "output: (3, 2)  weights: (3, 3)\n"));
  CHECK(contains(out, "causal=False max difference vs PyTorch: no reference for these inputs\n"));
  CHECK(contains(run_attn({"demo", "--document", "2", "--d-k", "3"}).out, "Q shape: (4, 3), K shape: (4, 3), V shape: (4, 3)\n"));
  const std::string seed = "340282366920938463463374607431768211463";
  CHECK(run_attn({"demo", "--seed", seed}).out == run_attn({"demo", "--seed", seed}).out);
  CHECK(run_attn({"demo", "--seed", seed}).out != run_attn({"demo"}).out);
}

TEST_CASE("--expect passes over measured cells and fails on any other, in every format") {
  const attn::TemporaryFolder folder;
  for (const char* format : {"text", "json", "jsonl", "csv", "markdown"}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"scaling-sweep", "--dk", "4,8", "--trials", "20"},
          std::vector<std::string>{"timing-sweep", "--n", "32,64"}, std::vector<std::string>{"demo"}, std::vector<std::string>{"causal"}}) {
      INFO(command[0] << " " << format);
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--format", format});
      std::string before = run_attn(arguments).out;
      std::ofstream((folder.path() / "before").string(), std::ios::binary) << before;
      arguments.insert(arguments.end(), {"--expect", (folder.path() / "before").string()});
      const Outcome same = run_attn(arguments);
      CHECK(same.exit_code == 0);
      CHECK(same.err.empty());
      // One computed cell that stands in every format: document 2's fixed scores, d_k, or the shape of the scores.
      const bool text = std::string(format) == "text";
      const std::string cell = command[0] == "timing-sweep" ? (text ? "(64, 64)" : "32768") : command[0] == "scaling-sweep" ? "8" : "0";
      const std::size_t row = before.rfind(cell);
      REQUIRE(row != std::string::npos);
      before[row] = before[row] == '(' ? '[' : '9';
      std::ofstream((folder.path() / "before").string(), std::ios::binary) << before;
      const Outcome changed = run_attn(arguments);
      CHECK(changed.exit_code == 1);
      CHECK(changed.err.starts_with("attn: expect: "));
      CHECK(contains(changed.err, "1 line differs"));
    }
  }
}
