// Long runs: rows that survive interruption and kill, resuming, and what goes where.
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

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

TEST_CASE("a row's own command computes it from the same numbers") {
  const attn::TemporaryFolder folder;
  const std::string out = (folder.path() / "out.json").string();
  const std::vector<std::string> sweep = {"timing-sweep", "--what", "fused,decode,gemm", "--n",     "20,30",
                                          "--heads",      "2",      "--causal",          "--dtype", "f32",
                                          "--reps",       "1",      "--quiet",           "--seed",  "7"};
  REQUIRE(run_attn(with(sweep, {"--out", out})).exit_code == 0);
  for (const Json& row : Json::parse(attn::read_file(out))["results"]) {
    if (!row.contains("repro")) continue;
    std::istringstream words(row["repro"].get<std::string>() + " --reps 1 --quiet --json");
    std::vector<std::string> arguments(std::istream_iterator<std::string>(words), {});
    REQUIRE(arguments.front() == "attn");
    arguments.erase(arguments.begin());
    const Json again = Json::parse(run_attn(arguments).out)["results"][0];
    INFO(row["repro"]);
    CHECK(again["input_hash"] == row["input_hash"]);
    CHECK(again["output_hash"] == row["output_hash"]);
    CHECK(again["flops"] == row["flops"]);
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

TEST_CASE("stdout is the result alone; a decimal comma elsewhere does not matter") {
  RunOptions german;
  german.environment = {{"LC_ALL", "de_DE.UTF-8"}, {"LC_NUMERIC", "de_DE.UTF-8"}};
  CHECK(run_attn({"scaling-sweep", "--dk", "4", "--trials", "100"}, german).out ==
        run_attn({"scaling-sweep", "--dk", "4", "--trials", "100"}).out);
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
