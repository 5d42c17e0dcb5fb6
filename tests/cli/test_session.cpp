// Long runs: rows that survive interruption and kill, resuming, and what goes where.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/read_file.h"
#include "support/temporary_folder.h"

using Json = nlohmann::json;

namespace {

// A sweep whose first row takes a moment and whose second takes minutes.
std::vector<std::string> long_sweep(const std::string& format = "text") {
  return {"timing-sweep", "--what", "gemm",    "--n",       "64,12000", "--reps",   "2",
          "--max-time",   "1000",   "--quiet", "--threads", "1",        "--format", format};
}

RunOptions ended_by(const std::string& signal, double seconds) {
  RunOptions options;
  // --preserve-status: the program's own exit code, not timeout's.
  options.shell_prefix = "timeout --preserve-status -s " + signal + " " + std::to_string(seconds);
  return options;
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("interruption keeps the finished rows, printed and saved, in every format") {
  for (const char* format : {"text", "json", "jsonl", "csv", "markdown"}) {
    const attn::TemporaryFolder folder;
    const std::string out = (folder.path() / "out.json").string();
    const Outcome outcome = run_attn(with(long_sweep(format), {"--out", out}), ended_by("INT", 6));
    INFO(format << outcome.err);
    CHECK(outcome.exit_code == 130);
    CHECK(outcome.err == "attn: interrupted\n");
    CHECK(contains(outcome.out, "64"));
    const Json document = Json::parse(attn::read_file(out));
    REQUIRE(document["results"].size() == 1);
    CHECK(document["results"][0]["seq_q"] == 64);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    if (std::string(format) == "json") CHECK(Json::parse(outcome.out)["results"].size() == 1);
  }
  CHECK(run_attn(long_sweep(), ended_by("TERM", 4)).exit_code == 143);
}

TEST_CASE("kill -9 leaves the finished rows readable, and --resume goes on from them") {
  const attn::TemporaryFolder folder;
  const std::string out = (folder.path() / "out.json").string();
  CHECK(run_attn(with(long_sweep(), {"--out", out}), ended_by("KILL", 6)).exit_code == 137);
  const Json before = Json::parse(attn::read_file(out));
  REQUIRE(before["results"].size() == 1);

  // The same arguments but for a shorter list would be another run.
  const std::vector<std::string> other = {"timing-sweep", "--what", "gemm",    "--n",       "64,128", "--reps",   "2",
                                          "--max-time",   "1000",   "--quiet", "--threads", "1",      "--resume", out};
  const Outcome refused = run_attn(other);
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "--resume: " + out + ": n: expected [64,128], found [64,12000]"));

  // Shortened by hand, it can be finished; the row that was measured stays as it was.
  Json shorter = before;
  shorter["args"]["n"] = {64, 128};
  std::ofstream(out) << shorter;
  const Outcome resumed = run_attn(other);
  CHECK(resumed.exit_code == 0);
  const Json after = Json::parse(attn::read_file(out));
  REQUIRE(after["results"].size() == 3);  // two rows and their growth
  CHECK(after["results"][0]["samples_ns"] == before["results"][0]["samples_ns"]);
  CHECK(after["results"][1]["seq_q"] == 128);
}

TEST_CASE("what is resumed and what is not draw the same numbers") {
  const attn::TemporaryFolder folder;
  const std::string whole = (folder.path() / "whole.json").string();
  const std::string part = (folder.path() / "part.json").string();
  const std::vector<std::string> sweep = {"timing-sweep", "--what", "scores,fused,decode", "--n", "32,48", "--reps", "2", "--quiet"};
  REQUIRE(run_attn(with(sweep, {"--out", whole})).exit_code == 0);
  Json document = Json::parse(attn::read_file(whole));
  const Json rows = document["results"];
  document["results"] = {rows[0], rows[1], rows[2]};
  std::ofstream(part) << document;
  REQUIRE(run_attn(with(sweep, {"--resume", part})).exit_code == 0);
  const Json resumed = Json::parse(attn::read_file(part))["results"];
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(resumed[i]["input_hash"] == rows[i]["input_hash"]);
    CHECK(resumed[i]["output_hash"] == rows[i]["output_hash"]);
    CHECK(resumed[i]["stream_position"] == rows[i]["stream_position"]);
  }
}

TEST_CASE("document 1's measurement and the scaling tables go on where they stopped") {
  const std::vector<std::vector<std::string>> sweeps = {{"timing-sweep", "--n", "16,24,40", "--seed", "5"},
                                                        {"scaling-sweep", "--d-k", "3,70,8", "--trials", "30", "--gradients"}};
  for (const std::vector<std::string>& sweep : sweeps) {
    INFO(sweep.front());
    const attn::TemporaryFolder folder;
    const std::string file = folder / "rows.json";
    const Outcome whole = run_attn(with(sweep, {"--out", file}));
    REQUIRE(whole.exit_code == 0);
    Json document = Json::parse(attn::read_file(file));
    const Json rows = document["results"];
    // A mark shows which rows were taken over and which made anew. Document 1's: all but the last size; the tables: all but the last pair.
    const std::size_t kept = sweep.front() == "timing-sweep" ? 2 : rows.size() - 2;
    document["results"] = std::vector<Json>(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept));
    for (Json& row : document["results"]) row["peak_bytes"] = 12345;
    std::ofstream(file) << document;
    const Outcome resumed = run_attn(with(sweep, {"--resume", file}));
    CHECK(resumed.exit_code == 0);
    if (sweep.front() == "scaling-sweep") CHECK(resumed.out == whole.out);
    const Json after = Json::parse(attn::read_file(file))["results"];
    REQUIRE(after.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].contains("peak_bytes")) continue;  // growth
      CHECK((after[i]["peak_bytes"] == 12345) == (i < kept));
      for (const char* name : {"input_hash", "stream_position", "flops", "bytes_model", "repro", "std_of_scores", "jacobian_norm"})
        CHECK(after[i].value(name, Json()) == rows[i].value(name, Json()));
    }
    CHECK(after[0].value("samples_ns", Json()) == rows[0].value("samples_ns", Json()));
    CHECK(run_attn(with(sweep, {"--advance", "1", "--resume", file})).exit_code == 2);
  }
}

TEST_CASE("a run with any other argument is not resumed") {
  const attn::TemporaryFolder folder;
  const std::string file = (folder.path() / "rows.json").string();
  const std::vector<std::string> sweep = {"timing-sweep", "--what", "fused", "--n", "16", "--reps", "1", "--quiet"};
  REQUIRE(run_attn(with(sweep, {"--out", file})).exit_code == 0);
  CHECK(run_attn(with(sweep, {"--resume", file})).exit_code == 0);
  const std::vector<std::pair<std::string, std::vector<std::string>>> others = {{"window_left", {"--window", "3,unlimited"}},
                                                                                {"softcap", {"--softcap", "5"}},
                                                                                {"n_k", {"--n-k", "20"}},
                                                                                {"d_v", {"--d-v", "8"}},
                                                                                {"kv_heads", {"--kv-heads", "1"}},
                                                                                {"causal", {"--causal"}},
                                                                                {"max_time_s", {"--max-time", "3"}}};
  for (const auto& [name, more] : others) {
    const Outcome refused = run_attn(with(with(sweep, more), {"--resume", file}));
    INFO(name << ": " << refused.err);
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "--resume: " + file + ": " + name + ": expected "));
  }
}

namespace {

// The first row that the row's own command makes.
Json made_again(const Json& row, const std::string& more) {
  std::istringstream words(row["repro"].get<std::string>() + more);
  std::vector<std::string> arguments(std::istream_iterator<std::string>(words), {});
  REQUIRE(arguments.front() == "attn");
  arguments.erase(arguments.begin());
  return Json::parse(run_attn(arguments).out)["results"][0];
}

}  // namespace

TEST_CASE("rows are saved though nobody reads what is printed") {
  const attn::TemporaryFolder folder;
  const std::string file = folder / "rows.json";
  // The reader is gone before the first row comes.
  const std::string call = "'" ATTN_PROGRAM "' timing-sweep --what fused --n 64,128 --reps 2 --quiet --out '" + file + "' | true";
  REQUIRE(std::system(call.c_str()) == 0);
  const Json rows = Json::parse(attn::read_file(file))["results"];
  REQUIRE_FALSE(rows.empty());
  CHECK(rows[0]["status"] == "passed");
}

TEST_CASE("a row's own command computes it from the same numbers") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> sweeps = {
      {{"timing-sweep", "--what", "fused,decode,gemm", "--n", "20,30", "--heads", "2", "--causal", "--dtype", "f32", "--reps", "1"},
       " --reps 1 --json --quiet"},
      {{"timing-sweep", "--n", "20,30"}, " --json"},
      {{"scaling-sweep", "--d-k", "3,70,8", "--trials", "30"}, " --json"}};
  for (const auto& [sweep, more] : sweeps) {
    const Json rows = Json::parse(run_attn(with(sweep, {"--seed", "7", "--quiet", "--json"})).out)["results"];
    for (const Json& row : rows) {
      if (!row.contains("repro")) continue;
      const Json again = made_again(row, more);
      INFO(row["repro"]);
      CHECK_FALSE(row["input_hash"].get<std::string>().empty());
      for (const char* name : {"input_hash", "output_hash", "flops", "bytes_model", "stream_position"}) CHECK(again[name] == row[name]);
      for (const char* name : {"mask", "batch", "heads", "kv_heads"}) CHECK(again.value(name, Json()) == row.value(name, Json()));
    }
    CHECK(rows[0]["input_hash"] != rows.at(1)["input_hash"]);
  }
}

TEST_CASE("JSON Lines come a row at a time and can be resumed even when cut off") {
  const attn::TemporaryFolder folder;
  const std::string file = (folder.path() / "rows.jsonl").string();
  const std::vector<std::string> sweep = {"timing-sweep", "--what", "scores", "--protocol", "steady",
                                          "--n",          "16,24",  "--reps", "2",          "--quiet"};
  std::string lines = run_attn(with(sweep, {"--format", "jsonl"})).out;
  const std::size_t second = lines.find('\n', lines.find('\n') + 1);
  std::ofstream(file) << lines.substr(0, second + 20);  // context, one row, and the beginning of another
  const Outcome resumed = run_attn(with(sweep, {"--resume", file, "--out", (folder.path() / "all.json").string()}));
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(Json::parse(attn::read_file((folder.path() / "all.json").string()))["results"].size() == 3);
}

TEST_CASE("a file to resume that is none is refused before anything runs") {
  const attn::TemporaryFolder folder;
  const std::string file = (folder.path() / "file").string();
  for (const char* text : {"", "{}", "[1,2]", "no json", "{\"schema_version\":1,\"context\":{},\"args\":{},\"results\":3}"}) {
    std::ofstream(file) << text;
    const Outcome outcome = run_attn({"timing-sweep", "--n", "16", "--resume", file});
    INFO(text << outcome.err);
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.out.empty());
    CHECK(attn::read_file(file) == text);
  }
}

TEST_CASE("stdout is the result alone") {
  const Outcome quiet = run_attn({"timing-sweep", "--what", "fused", "--n", "16", "--reps", "20", "--quiet", "--json"});
  CHECK(quiet.err.empty());
  CHECK_NOTHROW(Json::parse(quiet.out));
}

TEST_CASE("colour only where it is asked for") {
  CHECK(contains(run_attn({"reproduce", "--check", "--color", "always"}).out, "\x1b[32mPASS\x1b[0m"));
  CHECK_FALSE(contains(run_attn({"reproduce", "--check"}).out, "\x1b["));
  CHECK(run_attn({"demo", "--color", "sometimes"}).exit_code == 2);
}

TEST_CASE("a dry run names every row and measures none") {
  const Outcome outcome = run_attn({"timing-sweep", "--what", "gemm,fused", "--n", "64k", "--dry-run", "--json"});
  const Json rows = Json::parse(outcome.out)["results"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["flops"].get<double>() == 2.0 * 65536 * 65536 * 65536);
  CHECK(rows[1]["flops"].get<double>() == 4.0 * 65536 * 65536 * 64);
  CHECK(rows[0]["predicted_s"].get<double>() > 0);
}
