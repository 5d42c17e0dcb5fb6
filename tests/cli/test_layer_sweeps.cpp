// generate-sweep and layer-sweep as their users meet them: exit codes, formats, resuming, and rows that can be computed again.
#include <algorithm>
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

using Arguments = std::vector<std::string>;

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const Arguments generate = {"generate-sweep", "--n", "3..12", "--d-model", "24", "--heads", "2", "--reps", "1", "--quiet"};
const Arguments layer = {"layer-sweep", "--n", "3..12", "--d-model", "24", "--heads", "2", "--reps", "1", "--quiet"};

Json document_of(const Arguments& arguments) { return Json::parse(run_attn(with(arguments, {"--json"})).out); }

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

TEST_CASE("generate-sweep has a row per n and way, and their growth, in every format") {
  const Json document = document_of(generate);
  REQUIRE(document["results"].size() == 3 * 2 + 2);
  for (std::size_t i = 0; i < 6; ++i) {
    const Json& row = document["results"][i];
    CHECK(row["algorithm"] == (i % 2 == 0 ? "no-cache" : "kv-cache"));
    CHECK(row["seq_q"] == (3 << (i / 2)));
    CHECK(row["status"] == "passed");
    CHECK(row["largest_share"] < 1);
    CHECK(row["time_per_token_s"].get<double>() == Approx(row["time_median_s"].get<double>() / row["seq_q"].get<double>()));
  }
  CHECK(document["results"][0]["speedup"] == 1);
  // 3 tokens of 24: 4 d^2 n (n + 1) + 2 d n (n + 1) (n + 2) / 3, and 8 n d^2 + 2 d n (n + 1).
  CHECK(document["results"][0]["flops"] == 4 * 576 * 12 + 2 * 24 * 20);
  CHECK(document["results"][1]["flops"] == 8 * 3 * 576 + 2 * 24 * 12);
  CHECK(document["results"][1]["cache_bytes"] == 2 * 3 * 24 * 4);
  CHECK(document["results"][7]["exponent_flops"] > 1);

  const Outcome text = run_attn(generate);
  CHECK(text.exit_code == 0);
  CHECK(lines_of(text.out) == 1 + 6 + 2);
  CHECK(contains(text.out, "kv-cache f32 d_model=24 heads=2: time ~ n^"));
  CHECK(lines_of(run_attn(with(generate, {"--format", "jsonl"})).out) == 1 + 8);
  CHECK(lines_of(run_attn(with(generate, {"--format", "csv"})).out) == 1 + 8);
  CHECK(lines_of(run_attn(with(generate, {"--format", "markdown"})).out) == 2 + 8);
}

TEST_CASE("layer-sweep has a row per n and part, whole layers, and where attention is more than half, in every format") {
  const Json document =
      document_of({"layer-sweep", "--n", "3..12,200", "--d-model", "24", "--heads", "2", "--reps", "1", "--quiet", "--causal"});
  REQUIRE(document["results"].size() == 4 * 6 + 3);
  const Arguments parts = {"projections", "attention", "attention", "feed-forward", "layer", "layer"};
  for (std::size_t i = 0; i < 24; ++i) {
    const Json& row = document["results"][i];
    CHECK(row["part"] == parts[i % 6]);
    CHECK(row["mask"] == "causal");
    if (i % 6 < 4) CHECK(row["status"] == "passed");
  }
  const Json& whole = document["results"][22];
  CHECK(whole["flops"] == 24.0 * 200 * 576 + 4 * 24 * (200 * 201 / 2));
  CHECK(whole["attention_flops_share"].get<double>() == Approx(4 * 24 * (200.0 * 201 / 2) / whole["flops"].get<double>()));
  CHECK(whole["time_median_s"].get<double>() ==
        Approx(document["results"][18]["time_median_s"].get<double>() + document["results"][19]["time_median_s"].get<double>() +
               document["results"][21]["time_median_s"].get<double>()));
  const Json& majority = document["results"][24];
  CHECK(majority["by"] == "flops");
  CHECK(majority["n_closed_form"] == 12 * 24);
  CHECK(majority["n_below"] == 200);
  CHECK(majority["n_above"].is_null());

  const Outcome text = run_attn(layer);
  CHECK(text.exit_code == 0);
  CHECK(lines_of(text.out) == 1 + 3 * 6 + 3);
  CHECK(contains(text.out, "attention is more than half of the operations: from n = 145 on (6 d_model + 1)"));
  CHECK(lines_of(run_attn(with(layer, {"--format", "jsonl"})).out) == 1 + 21);
  CHECK(lines_of(run_attn(with(layer, {"--format", "csv"})).out) == 1 + 21);
  CHECK(lines_of(run_attn(with(layer, {"--format", "markdown"})).out) == 2 + 21);
}

TEST_CASE("sweeps over a layer refuse what makes no sense, and skip what is too large") {
  for (const std::string command : {"generate-sweep", "layer-sweep"}) {
    const auto refused = [&](const Arguments& more, const std::string& message) {
      const Outcome outcome = run_attn(with({command}, more));
      INFO(command << ": " << outcome.err);
      CHECK(outcome.exit_code == 2);
      CHECK(outcome.out.empty());
      CHECK(contains(outcome.err, message));
    };
    refused({"--heads", "5"}, "--heads: expected a divisor of d_model 768, found 5");
    refused({"--dtype", "f16"}, "--dtype: expected f32 or f64, found 'f16'");
    refused({"--n", "0"}, "--n");
    refused({"--max-time", "0"}, "--max-time");
    refused({"--haeds", "4"}, "did you mean '--heads'?");
    const Outcome skipped = run_attn({command, "--n", "4,1000000000000", "--d-model", "16", "--heads", "2", "--reps", "1"});
    CHECK(skipped.exit_code == 1);
    CHECK(contains(skipped.out, "skipped: " + command + ": n = 1000000000000: memory: expected"));
    CHECK(contains(skipped.err, "attn: warning: skipped"));
  }
}

TEST_CASE("--dry-run prints what would be run, and runs nothing") {
  const Json generation = document_of({"generate-sweep", "--dry-run", "--n", "1000000"})["results"];
  REQUIRE(generation.size() == 2);
  CHECK(generation[0]["predicted_s"] > 1000);
  CHECK(generation[0]["predicted_total_s"] > 2 * 1000);
  const Json parts = document_of({"layer-sweep", "--dry-run", "--n", "1000000", "--dtype", "f32,f64"})["results"];
  CHECK(parts.size() == 8);
  CHECK(contains(run_attn({"layer-sweep", "--dry-run"}).out, "all rows, at least: "));
  const Json scaling = document_of({"scaling-sweep", "--dry-run", "--d-k", "1000000000", "--gradients"})["results"];
  REQUIRE(scaling.size() == 2);
  CHECK(scaling[0]["normals"] == 22000e9);
  CHECK(scaling[0]["predicted_s"] > 1000);
  CHECK(scaling[1]["predicted_s"] > scaling[0]["predicted_s"]);
  // What is planned is what is counted when it runs.
  const Arguments sweep = {"scaling-sweep", "--d-k", "3,8", "--trials", "5", "--gradients"};
  const auto total_flops = [](const Json& rows, const char* name, const char* value) {
    double sum = 0;
    for (const Json& one : rows) sum += one[name] == value ? one["flops"].get<double>() : 0;
    return sum;
  };
  const Json plan = document_of(with(sweep, {"--dry-run"}))["results"];
  const Json run = document_of(sweep)["results"];
  CHECK(total_flops(plan, "what", "scores") == total_flops(run, "block", "scaling"));
  CHECK(total_flops(plan, "what", "gradients") == total_flops(run, "block", "gradients"));
}

TEST_CASE("lists of sizes over a layer multiply, the first named varying slowest") {
  const Json rows = document_of({"generate-sweep", "--heads", "2,4", "--n", "2,3", "--d-model", "16", "--reps", "1", "--quiet"})["results"];
  std::vector<std::pair<int, int>> order;
  for (std::size_t i = 0; i < 8; i += 2) order.emplace_back(rows[i]["heads"], rows[i]["seq_q"]);
  CHECK(order == std::vector<std::pair<int, int>>{{2, 2}, {2, 3}, {4, 2}, {4, 3}});
}

TEST_CASE("sweeps over a layer go on where they stopped, from the same numbers") {
  for (const Arguments& sweep : {generate, layer}) {
    const attn::TemporaryFolder folder;
    const std::string whole = folder / "whole.json";
    const std::string part = folder / "part.json";
    REQUIRE(run_attn(with(sweep, {"--out", whole})).exit_code == 0);
    Json document = Json::parse(attn::read_file(whole));
    const Json rows = document["results"];
    const std::size_t of_point = sweep.front() == "layer-sweep" ? 6 : 2;
    // The first point, and one row of the second, which is not enough to take that over.
    document["results"] = Json::array();
    for (std::size_t i = 0; i <= of_point; ++i) document["results"].push_back(rows[i]);
    std::ofstream(part) << document;
    REQUIRE(run_attn(with(sweep, {"--resume", part})).exit_code == 0);
    const Json resumed = Json::parse(attn::read_file(part))["results"];
    REQUIRE(resumed.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      INFO(sweep.front() << ", row " << i);
      for (const char* name : {"stream_position", "input_hash", "output_hash", "flops", "part", "algorithm", "seq_q", "status"}) {
        CHECK(resumed[i].value(name, Json()) == rows[i].value(name, Json()));
      }
    }
    CHECK(resumed[0] == rows[0]);
    CHECK(resumed[1] == rows[1]);
    CHECK(run_attn(with(sweep, {"--seed", "1", "--resume", part})).exit_code == 2);
  }
}

TEST_CASE("a row of a layer's sweep can be computed again by its own command") {
  for (const Arguments& sweep : {generate, with(layer, {"--causal"})}) {
    const Json rows = document_of(with(sweep, {"--seed", "11"}))["results"];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].contains("repro")) continue;
      INFO(rows[i]["repro"]);
      std::istringstream words(rows[i]["repro"].get<std::string>() + " --reps 1 --quiet");
      Arguments arguments(std::istream_iterator<std::string>(words), {});
      arguments.erase(arguments.begin());
      const Json again = document_of(arguments)["results"];
      const auto same = [&](const Json& row) {
        return row["algorithm"] == rows[i]["algorithm"] && row.value("part", Json()) == rows[i].value("part", Json());
      };
      const auto found = std::find_if(again.begin(), again.end(), same);
      REQUIRE(found != again.end());
      CHECK((*found)["input_hash"] == rows[i]["input_hash"]);
      CHECK((*found)["output_hash"] == rows[i]["output_hash"]);
      CHECK((*found)["flops"] == rows[i]["flops"]);
    }
  }
}

TEST_CASE("what a sweep over a layer printed can be expected of it") {
  for (const Arguments& sweep : {generate, layer}) {
    const attn::TemporaryFolder folder;
    for (const std::string format : {"text", "csv", "json"}) {
      const std::string file = folder / format;
      std::ofstream(file) << run_attn(with(sweep, {"--format", format})).out;
      INFO(sweep.front() << " " << format);
      const Outcome again = run_attn(with(sweep, {"--format", format, "--expect", file}));
      CHECK(again.err == "");
      CHECK(again.exit_code == 0);
      CHECK(run_attn(with(sweep, {"--format", format, "--seed", "1", "--dtype", "f64", "--expect", file})).exit_code == 1);
    }
  }
}
