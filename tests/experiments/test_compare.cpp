// What makes rows of different documents the same row, and what is read from them.
#include <set>

#include "catch.h"
#include "compare/hosts.h"
#include "compare/match_rows.h"
#include "compare/row_identity.h"
#include "compare/side.h"
#include "compare/table_comparison.h"
#include "io/read_file.h"
#include "machine/error.h"
#include "support/temporary_folder.h"

using namespace attn;

namespace {

Json row(int n, double time_ns) {
  return {{"experiment", "timing-sweep"},
          {"algorithm", "fused"},
          {"dtype", "f32"},
          {"seq_q", n},
          {"seq_k", n},
          {"head_dim", 64},
          {"threads", 2},
          {"seed", "0"},
          {"samples_ns", std::vector<double>(12, time_ns)},
          {"input_hash", "1"},
          {"output_hash", "2"},
          {"status", "passed"}};
}

Json with(Json row, const std::string& name, const Json& value) {
  row[name] = value;
  return row;
}

ComparedFile file(const std::string& path, std::vector<Json> rows) { return {path, Json::object(), std::move(rows)}; }

std::vector<MatchedRow> match(const std::vector<Json>& before, const std::vector<Json>& after) {
  static Side old_side, new_side;
  old_side = {"OLD", {file("a", before)}};
  new_side = {"NEW", {file("b", after)}};
  return match_rows(old_side, new_side);
}

bool have_partners(const std::vector<MatchedRow>& rows) {
  for (const MatchedRow& matched : rows) {
    if (matched.old_runs.size() != 1 || matched.new_runs.size() != 1) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("rows match by every parameter, and by nothing else") {
  CHECK(have_partners(match({row(64, 5)}, {row(64, 7)})));
  for (const std::string_view name : parameter_names()) {
    if (name == "threads") continue;  // a fact of the run, unless rows differ in it
    INFO(name);
    const auto rows = match({row(64, 5)}, {with(row(64, 5), std::string(name), "another")});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].new_runs.empty());
    CHECK(rows[1].old_runs.empty());
  }
  for (const char* name : {"gflops", "input_hash", "stream_position", "noise", "isa", "status", "threads", "repro"}) {
    INFO(name);
    CHECK(have_partners(match({row(64, 5)}, {with(row(64, 5), name, 77)})));
  }
}

TEST_CASE("the schema marks the same parameters") {
  const Json schema = Json::parse(read_file(ATTN_DATA_DIR "/schema/attn.schema.json"));
  std::set<std::string> marked;
  for (const auto& [name, definition] : schema["definitions"].items()) {
    if (definition.contains("x-parameter")) marked.insert(name);
  }
  CHECK(marked == std::set<std::string>(parameter_names().begin(), parameter_names().end()));
}

TEST_CASE("threads are a parameter where a document's rows differ in them") {
  const std::vector<Json> both = {row(64, 5), with(row(64, 5), "threads", 1)};
  CHECK(match(both, both).size() == 2);
  CHECK(have_partners(match(both, both)));
  CHECK(match(both, {row(64, 5)})[1].new_runs.empty());
}

TEST_CASE("an absent parameter is one at its default, and numbers are equal however they are written") {
  Json spelled_out = row(64, 5);
  const Json defaults = {{"batch", 1},     {"heads", 1}, {"kv_heads", 1}, {"mask", "none"}, {"softcap", 0.0}, {"window_left", nullptr},
                         {"what", "fused"}};
  for (const auto& [name, value] : defaults.items()) {
    spelled_out[name] = value;
  }
  spelled_out["seq_q"] = 64.0;
  CHECK(have_partners(match({row(64, 5)}, {spelled_out})));
  CHECK(have_partners(match({with(with(row(64, 5), "heads", 8), "kv_heads", 8)}, {with(row(64, 5), "heads", 8)})));
  CHECK_FALSE(have_partners(match({with(with(row(64, 5), "heads", 8), "kv_heads", 2)}, {with(row(64, 5), "heads", 8)})));
}

TEST_CASE("a row that a document has twice is matched in order") {
  const auto rows = match({row(64, 1), row(64, 2)}, {row(64, 3), row(64, 4), row(64, 5)});
  REQUIRE(rows.size() == 3);
  CHECK((*rows[1].old_runs[0].row)["samples_ns"][0] == 2);
  CHECK((*rows[1].new_runs[0].row)["samples_ns"][0] == 4);
  CHECK(rows[2].old_runs.empty());
}

TEST_CASE("labels say what is not usual") {
  CHECK(label_of(parameters_of(row(64, 5), false)) == "fused f32 n=64 d=64");
  Json decode = with(with(with(row(1, 5), "seq_k", 4096), "heads", 32), "kv_heads", 8);
  decode = with(with(with(decode, "mask", "causal"), "window_left", 128), "head_dim_v", 128);
  decode = with(with(decode, "algorithm", "decode"), "seed", "5");
  CHECK(label_of(parameters_of(decode, false)) ==
        "decode f32 seq_q=1 seq_k=4096 d=64 d_v=128 heads=32 kv_heads=8 causal window_left=128 seed=5");
  CHECK(label_of(parameters_of(row(64, 5), true)) == "fused f32 n=64 d=64 threads=2");
  CHECK(label_of(parameters_of({{"experiment", "scaling-sweep"}, {"head_dim", 4}, {"trials", 20}}, false)) ==
        "scaling-sweep d=4 trials=20");
}

TEST_CASE("times are the samples, else the one statistic there is") {
  const ComparedFile none = file("a", {});
  CHECK(times_ns(none, {{"samples_ns", {3.0, 4.0}}, {"time_s", {{"median", 1.0}}}}) == std::vector<double>{3, 4});
  CHECK(times_ns(none, {{"time_s", {{"mean", 2.0}, {"median", 1.0}}}}) == std::vector<double>{1e9});
  CHECK(times_ns(none, {{"samples_ns", Json::array()}, {"time_s", {{"mean", 2.0}}}}) == std::vector<double>{2e9});
  CHECK(times_ns(none, {{"time_s", nullptr}}).empty());
  CHECK_THROWS_AS(times_ns(none, {{"samples_ns", {3.0, 0.0}}}), FileError);
  CHECK_THROWS_AS(times_ns(none, {{"samples_ns", {3.0, "4"}}}), FileError);
  CHECK_THROWS_AS(times_ns(none, {{"samples_ns", 3.0}}), FileError);
  CHECK_THROWS_AS(times_ns(none, {{"time_s", {{"median", -1.0}}}}), FileError);
}

TEST_CASE("hashes are judged apart from times") {
  const auto agreement = [](const Json& before, const Json& after) {
    const ComparedRow judged = compare_table(match({before}, {after}), 5).rows.front();
    CHECK(judged.comparison.has_value());
    return std::make_pair(judged.input, judged.output);
  };
  const Json same = row(64, 5);
  CHECK(agreement(same, same) == std::make_pair(Agreement::same, Agreement::same));
  CHECK(agreement(same, with(same, "output_hash", "3")) == std::make_pair(Agreement::same, Agreement::different));
  CHECK(agreement(same, with(same, "input_hash", "3")) == std::make_pair(Agreement::different, Agreement::same));
  CHECK(agreement(same, with(same, "input_hash", nullptr)).first == Agreement::unknown);
}

TEST_CASE("a run in which a row did not pass is left out, and why is said") {
  Json failed = with(with(row(64, 5), "status", "failed"), "reason", "wrong");
  const TableComparison none = compare_table(match({failed}, {row(64, 5)}), 5);
  CHECK_FALSE(none.rows[0].comparison.has_value());
  CHECK(none.rows[0].reason == "failed in a: wrong");
  CHECK(none.compared() == 0);
  CHECK(compare_table(match({failed}, {failed}), 5).rows[0].reason == "failed in a, b: wrong");
  CHECK_FALSE(none.geometric_mean.has_value());
}

TEST_CASE("the host is compared field by field, each named once") {
  const Json context = {{"cpu_model", "A"},  {"isa", "AVX3"},           {"threads", 2},
                        {"compiler", "GNU"}, {"compiler_flags", "-O3"}, {"library_build_type", "release"}};
  const Side old_side{"OLD", {{"a", context, {}}, {"a2", context, {}}}};
  for (const auto& [name, value] : context.items()) {
    INFO(name);
    const Side new_side{"NEW", {{"b", with(context, name, "another"), {}}, {"b2", with(context, name, nullptr), {}}}};
    const auto differences = host_differences(old_side, new_side, {});
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].field == name);
    CHECK(differences[0].other_file == "b");
  }
  for (const char* name : {"date", "host_name", "git_sha", "load_avg", "attn_version"}) {
    CHECK(host_differences(old_side, {"NEW", {{"b", with(context, name, "another"), {}}}}, {}).empty());
  }
  const auto runs_differ = host_differences({"OLD", {{"a", context, {}}, {"a2", with(context, "isa", "AVX2"), {}}}}, old_side, {});
  REQUIRE(runs_differ.size() == 1);
  CHECK(runs_differ[0].text() == "isa: 'AVX3' in a, 'AVX2' in a2");
}

TEST_CASE("rows that ran on other instruction sets or threads than their partners are of different hosts") {
  CHECK(host_differences({"OLD", {file("a", {})}}, {"NEW", {file("b", {})}}, match({row(64, 5)}, {with(row(64, 5), "threads", 1)}))
            .front()
            .text() == "threads: '2' in a, '1' in b");
}

TEST_CASE("revisions are short, marked where files were changed, and the libraries' versions in a peer's document") {
  CHECK(revision_of({{"git_sha", std::string(40, 'a')}, {"git_dirty", false}}) == "aaaaaaaaaaaa");
  CHECK(revision_of({{"git_sha", std::string(40, 'a')}, {"git_dirty", true}}) == "aaaaaaaaaaaa+");
  CHECK(revision_of({{"git_sha", nullptr}, {"libraries", {{"torch", "2.15.0"}, {"numpy", "2.1"}}}}) == "torch 2.15.0, numpy 2.1");
  CHECK(revision_of({{"git_sha", std::string(40, 'a')}, {"libraries", {{"torch", "2.15.0"}}}}) == "aaaaaaaaaaaa, torch 2.15.0");
  CHECK(revision_of(Json::object()) == "unknown");
}

TEST_CASE("files of a side are read once each, and only documents of this program") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.json").string();
  const auto read = [&](const std::string& text) {
    folder.write("a.json", text);
    return read_side("OLD", path);
  };
  const std::string document = R"({"schema_version":1,"context":{},"args":{},"results":[{"status":"passed"},{"series":"growth"}]})";
  CHECK(read(document).files.at(0).rows.size() == 1);
  const std::string lines = R"({"schema_version":1,"context":{},"args":{}})"
                            "\n{\"status\":\"passed\",\"seq_q\":1}\n{\"status\":\"passed\",\"seq_q\":2}\n{\"status\":\"pas";
  CHECK(read(lines).files.at(0).rows.size() == 2);
  for (const char* text :
       {"", "{", "[]", "null", "12", "{}", "{\"benchmarks\":[]}", R"({"schema_version":2,"context":{},"args":{},"results":[]})",
        R"({"schema_version":"1","context":{},"args":{},"results":[]})", R"({"schema_version":1,"context":{},"args":{},"results":{}})",
        R"({"schema_version":1,"context":[],"args":{},"results":[]})", R"({"schema_version":1,"context":{},"args":{},"results":[1]})",
        "{\"schema_version\":1,\"context\":{},\"args\":{}}\nnot json\n"}) {
    INFO(text);
    CHECK_THROWS_AS(read(text), FileError);
  }
  CHECK_THROWS_AS(read_side("OLD", path + "," + path), UsageError);
  CHECK_THROWS_AS(read_side("OLD", path + ","), UsageError);
  CHECK_THROWS_AS(read_side("OLD", ""), UsageError);
  CHECK_THROWS_AS(read_side("OLD", path + ".absent"), FileError);
}
