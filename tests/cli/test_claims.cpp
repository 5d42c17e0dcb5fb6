// `attn claims` from outside.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/read_file.h"
#include "support/temporary_folder.h"

using Json = nlohmann::json;

namespace {

Json document_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_attn(arguments);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("claims --only examines these, in the order of all, with a command for each that examines it alone") {
  const Json results = document_of({"claims", "--only", "first-row,training,no-peek", "--seed", "5", "--json"})["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["id"] == "training");
  CHECK(results[0]["verdict"] == "not measurable here");
  CHECK(results[1]["id"] == "no-peek");
  CHECK(results[1]["verdict"] == "holds");
  CHECK(results[2]["id"] == "first-row");
  CHECK(results[2]["repro"] == "attn claims --only first-row --seed 5");
  Json alone = document_of({"claims", "--only", "first-row", "--seed", "5", "--json"})["results"];
  REQUIRE(alone.size() == 1);
  alone[0]["seconds"] = results[2]["seconds"];
  CHECK(alone[0] == results[2]);
}

TEST_CASE("claims --quick says so, and --help gives the rule of every verdict") {
  CHECK(contains(run_attn({"claims", "--only", "training", "--quick"}).out, "larger uncertainties"));
  const std::string help = run_attn({"claims", "--help"}).out;
  const Json document = document_of({"claims", "--only", "spread,training,dispatch", "--json"});
  for (const Json& row : document["results"]) {
    CHECK(contains(help, "  " + row["id"].get<std::string>() + ": "));
  }
  CHECK(contains(help, "< 3 standard errors"));
  CHECK(contains(run_attn({"help", "--man"}).out, "standard errors"));
}

TEST_CASE("claims refuses unknown ids and files that are no peers' rows") {
  const Outcome unknown = run_attn({"claims", "--only", "spred"});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "found 'spred'; did you mean 'spread'?"));
  CHECK(run_attn({"claims", "--only", "spread,,training"}).exit_code == 2);
  CHECK(run_attn({"claims", "--only", "dispatch", "--peers", "/no/such/file"}).exit_code == 3);
  CHECK(run_attn({"claims", "--only", "dispatch", "--peers", ATTN_DATA_DIR "/schema/attn.schema.json"}).exit_code == 3);
}

TEST_CASE("claims --peers reads what scripts/peers wrote") {
  const attn::TemporaryFolder folder;
  const auto row = [](const char* algorithm, double ms, const char* kernel) {
    return Json{
        {"algorithm", algorithm}, {"dtype", "f32"},     {"mask", "none"},   {"heads", 1},         {"head_dim", 64},          {"seq_q", 512},
        {"seq_k", 512},           {"status", "passed"}, {"kernel", kernel}, {"peak_bytes", 1000}, {"samples_ns", {ms * 1e6}}};
  };
  const Json peers = {
      {"schema_version", 1},
      {"context", Json::object()},
      {"args", Json::object()},
      {"results", {row("pytorch", 1, "FLASH_ATTENTION"), row("pytorch-fused", 1, "FLASH"), row("pytorch-math", 3.3, "MATH")}}};
  folder.write("peers.json", peers.dump());
  const std::string path = (folder.path() / "peers.json").string();
  const Json found = document_of({"claims", "--only", "dispatch", "--peers", path, "--json"})["results"][0];
  CHECK(found["verdict"] == "holds");
  CHECK(found["repro"] == "attn claims --only dispatch --peers " + path);
  CHECK(document_of({"claims", "--only", "dispatch", "--json"})["results"][0]["verdict"] == "not measurable here");
}

TEST_CASE("claims --resume takes finished claims over") {
  const attn::TemporaryFolder folder;
  const std::string path = (folder.path() / "claims.json").string();
  const std::vector<std::string> call = {"claims", "--only", "spread,training,first-row"};
  std::vector<std::string> whole = call;
  whole.insert(whole.end(), {"--out", path});
  const std::string text = run_attn(whole).out;
  Json document = Json::parse(attn::read_file(path));
  document["results"].erase(2);
  document["results"][0]["measured"] = "taken over";
  folder.write("claims.json", document.dump());
  std::vector<std::string> again = call;
  again.insert(again.end(), {"--resume", path});
  const Outcome resumed = run_attn(again);
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.out, "taken over"));
  CHECK(Json::parse(attn::read_file(path))["results"].size() == 3);
  again[2] = "spread";
  CHECK(run_attn(again).exit_code == 2);
}
