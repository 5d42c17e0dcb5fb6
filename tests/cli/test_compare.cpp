// `attn compare` on documents that are made up here, so that what it must say is known.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "cli/check_refused.h"
#include "cli/run_attn.h"
#include "support/temporary_folder.h"

using Json = nlohmann::json;

namespace {

// Samples evenly spread by 2 % on either side of a median.
std::vector<double> samples(double median_ns, int count = 20) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(median_ns * (0.98 + 0.04 * i / (count - 1)));
  return times;
}

Json row(int n, const std::vector<double>& times) {
  return {{"experiment", "timing-sweep"},
          {"block", "timing"},
          {"algorithm", "fused"},
          {"what", "fused"},
          {"dtype", "f32"},
          {"seq_q", n},
          {"seq_k", n},
          {"head_dim", 64},
          {"head_dim_v", 64},
          {"seed", "0"},
          {"protocol", "steady"},
          {"threads", 2},
          {"samples_ns", times},
          {"input_hash", "aa"},
          {"output_hash", "bb"},
          {"status", "passed"}};
}

Json document(const std::vector<Json>& rows) {
  const Json context = {{"cpu_model", "A processor"},
                        {"isa", "AVX3"},
                        {"threads", 2},
                        {"compiler", "GNU 12"},
                        {"compiler_flags", "-O3"},
                        {"library_build_type", "release"},
                        {"git_sha", std::string(40, 'a')},
                        {"git_dirty", false}};
  return {{"schema_version", 1}, {"context", context}, {"args", Json::object()}, {"results", rows}};
}

// Files in a folder of their own, and the program run there.
class Documents {
 public:
  std::string add(const std::string& name, const Json& content) const { return add_text(name, content.dump(1)); }

  std::string add_text(const std::string& name, const std::string& text) const {
    folder_.write(name, text);
    return name;
  }

  Outcome compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    RunOptions options;
    options.directory = folder_.path().string();
    return run_attn(arguments, options);
  }

  Json json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    return Json::parse(compare(arguments).out);
  }

 private:
  attn::TemporaryFolder folder_;
};

// The table's line for a row.
std::string line_of(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(label + " ")) return line;
  }
  return "";
}

// One row faster by a fifth, one slower by a fifth, one as before, one with too few samples.
void add_four_rows(const Documents& files) {
  files.add("old.json", document({row(64, samples(1e6)), row(128, samples(2e6)), row(256, samples(3e6)), row(512, samples(4e6))}));
  files.add("new.json", document({row(64, samples(0.8e6)), row(128, samples(2.4e6)), row(256, samples(3e6)), row(512, samples(8e6, 9))}));
}

}  // namespace

TEST_CASE("compare: a verdict on every row, the change, and a regression as the exit code") {
  const Documents files;
  add_four_rows(files);
  const Outcome outcome = files.compare({"old.json", "new.json"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err.empty());
  CHECK(contains(line_of(outcome.out, "fused f32 n=64 d=64"), "-20.0"));
  CHECK(line_of(outcome.out, "fused f32 n=64 d=64").ends_with("| FASTER"));
  CHECK(contains(line_of(outcome.out, "fused f32 n=128 d=64"), "+20.0"));
  CHECK(line_of(outcome.out, "fused f32 n=128 d=64").ends_with("| SLOWER"));
  CHECK(line_of(outcome.out, "fused f32 n=256 d=64").ends_with("| SAME"));
  CHECK(contains(line_of(outcome.out, "fused f32 n=512 d=64"), "+100.0"));
  CHECK(line_of(outcome.out, "fused f32 n=512 d=64").ends_with("|    20/9 | UNSURE"));
  CHECK(contains(outcome.out, "4 rows compared: 1 SAME, 1 FASTER, 1 SLOWER, 1 UNSURE\n"));
  CHECK(contains(outcome.out, "SLOWER by more than 5 %:\n  fused f32 n=128 d=64: +20.0 %\n"));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);

  CHECK(files.compare({"old.json", "new.json", "--fail-on-regression", "20.5"}).exit_code == 0);
  CHECK(files.compare({"old.json", "new.json", "--fail-on-regression=19.5"}).exit_code == 1);
  CHECK(files.compare({"old.json", "old.json"}).exit_code == 0);
}

TEST_CASE("compare: JSON, CSV and Markdown hold the same table") {
  const Documents files;
  add_four_rows(files);
  const Json result = files.json({"old.json", "new.json"});
  const Json& rows = result["results"];
  REQUIRE(rows.size() == 5);
  const std::vector<std::string> verdicts = {"FASTER", "SLOWER", "SAME", "UNSURE"};
  const std::vector<double> changes = {-20, 20, 0, 100};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rows[i]["verdict"] == verdicts[i]);
    CHECK(rows[i]["change_percent"].get<double>() == Approx(changes[i]).margin(1e-3));
    CHECK(rows[i]["change_low_percent"] <= rows[i]["change_percent"]);
    CHECK(rows[i]["change_high_percent"] >= rows[i]["change_percent"]);
    CHECK(rows[i]["status"] == (i == 1 ? "failed" : "passed"));
    CHECK(rows[i]["parameters"]["seq_q"] == 64 << i);
  }
  CHECK(rows[0]["old_median_s"].get<double>() == Approx(1e-3));
  CHECK(rows[4]["statistics"]["ratio"].get<double>() == Approx(std::pow(0.8 * 1.2 * 1 * 2, 0.25)));
  CHECK(rows[4]["counts"]["regressions"] == 1);
  CHECK(result["args"]["old"][0]["file"] == "old.json");

  const std::string csv = files.compare({"old.json", "new.json", "--format", "csv"}).out;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 6);
  CHECK(contains(csv, "fused f32 n=128 d=64,SLOWER,20.0,"));
  const std::string markdown = files.compare({"old.json", "new.json", "--format", "markdown"}).out;
  CHECK(contains(markdown, "| fused f32 n=128 d=64 | SLOWER | 20.0 | "));
  CHECK(contains(markdown, "geometric mean"));
}

TEST_CASE("compare: rows without partner are named in every format, and are no failure") {
  const Documents files;
  files.add("old.json", document({row(64, samples(1e6)), row(128, samples(2e6))}));
  files.add("new.json", document({row(64, samples(1e6)), row(1024, samples(2e6))}));
  const Outcome outcome = files.compare({"old.json", "new.json"});
  CHECK(outcome.exit_code == 0);
  CHECK(line_of(outcome.out, "fused f32 n=128 d=64").ends_with("| only in OLD"));
  CHECK(line_of(outcome.out, "fused f32 n=1024 d=64").ends_with("| only in NEW"));
  CHECK(contains(outcome.out, "not compared: 2"));
  const Json rows = files.json({"old.json", "new.json"})["results"];
  CHECK(rows[1]["reason"] == "only in OLD");
  CHECK(rows[2]["reason"] == "only in NEW");
  CHECK(rows[2]["status"] == "skipped");
  CHECK(rows[2]["verdict"].is_null());
  CHECK(contains(files.compare({"old.json", "new.json", "--format", "csv"}).out, "only in NEW"));
  CHECK(contains(files.compare({"old.json", "new.json", "--format", "markdown"}).out, "only in OLD"));

  files.add("other.json", document({row(7, samples(1e6))}));
  check_refused(files.compare({"old.json", "other.json"}), 2, {"'fused f32 n=64 d=64' only in OLD", "'fused f32 n=7 d=64' only in NEW"});
}

TEST_CASE("compare: several files of a side are runs, and their variation counts") {
  const Documents files;
  // Within a run samples hardly vary, from run to run by 10 %: one run a side sees a change, three a side do not.
  std::vector<std::string> old_files, new_files;
  for (int run = 0; run < 3; ++run) {
    const double shift = 0.9 + 0.1 * run;
    const std::string number = std::to_string(run);
    old_files.push_back(files.add("old" + number, document({row(64, samples(1e6 * shift)), row(128, samples(1e6 * shift))})));
    new_files.push_back(files.add("new" + number, document({row(64, samples(1.06e6 * shift)), row(128, samples(1.06e6 * shift))})));
  }
  CHECK(files.json({"old1", "new1"})["results"][0]["verdict"] == "SLOWER");
  const Json pooled = files.json({"old0,old1,old2", "new0,new1,new2"})["results"];
  CHECK(pooled[0]["verdict"] == "UNSURE");
  CHECK(pooled[0]["change_percent"].get<double>() == Approx(6).margin(1e-3));
  CHECK(pooled[0]["old_runs"] == 3);
  CHECK(pooled[0]["new_samples"] == 60);
  check_refused(files.compare({"old0,old0", "new0"}), 2, {"OLD", "old0", "twice"});
}

TEST_CASE("compare: another host is refused with both values and both files, or labelled") {
  const Documents files;
  const Json before = document({row(64, samples(1e6))});
  files.add("old.json", before);
  for (const char* field : {"cpu_model", "isa", "threads", "compiler", "compiler_flags", "library_build_type"}) {
    Json after = before;
    after["context"][field] = field == std::string("threads") ? Json(96) : Json("another");
    files.add("new.json", after);
    const std::string old_value = before["context"][field].is_string() ? before["context"][field].get<std::string>() : "2";
    check_refused(
        files.compare({"old.json", "new.json"}), 2,
        {field, "'" + old_value + "' in old.json", field == std::string("threads") ? "'96' in new.json" : "'another' in new.json"});
    const Outcome allowed = files.compare({"old.json", "new.json", "--allow-different-host"});
    CHECK(allowed.exit_code == 0);
    CHECK(contains(allowed.out, std::string("DIFFERENT HOST: ") + field));
    CHECK(files.json({"old.json", "new.json", "--allow-different-host"})["results"][0]["different_host"] == field);
  }
  Json revision = before;
  revision["context"]["git_sha"] = std::string(40, 'b');
  files.add("new.json", revision);
  const Outcome outcome = files.compare({"old.json", "new.json"});
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "OLD: old.json, revision aaaaaaaaaaaa,"));
  CHECK(contains(outcome.out, "NEW: new.json, revision bbbbbbbbbbbb,"));
  CHECK_FALSE(contains(outcome.out, "DIFFERENT HOST"));
  CHECK(files.json({"old.json", "new.json"})["results"][0]["new_revision"] == "bbbbbbbbbbbb");
}

TEST_CASE("compare: inputs and outputs that differ are told apart from times") {
  const Documents files;
  Json other_output = row(64, samples(1e6));
  other_output["output_hash"] = "cc";
  Json other_both = row(128, samples(1e6));
  other_both["input_hash"] = "dd";
  other_both["output_hash"] = "cc";
  files.add("old.json", document({row(64, samples(1e6)), row(128, samples(1e6)), row(256, samples(1e6))}));
  files.add("new.json", document({other_output, other_both, row(256, samples(1e6))}));
  const Outcome outcome = files.compare({"old.json", "new.json"});
  CHECK(outcome.exit_code == 0);
  CHECK(line_of(outcome.out, "fused f32 n=64 d=64").ends_with("| SAME    | output"));
  CHECK(line_of(outcome.out, "fused f32 n=128 d=64").ends_with("| SAME    | input, output"));
  CHECK(line_of(outcome.out, "fused f32 n=256 d=64").ends_with("| SAME"));
  const Json rows = files.json({"old.json", "new.json"})["results"];
  CHECK(rows[0]["input"] == "same");
  CHECK(rows[0]["output"] == "different");
  CHECK(rows[1]["input"] == "different");
  CHECK(rows[2]["output"] == "same");
}

TEST_CASE("compare: JSON Lines, a last line that a kill cut off, and rows that failed") {
  const Documents files;
  Json header = document({});
  header.erase("results");
  Json failed = row(128, samples(1e6));
  failed["status"] = "failed";
  failed["reason"] = "output differs from the oracle";
  const std::string whole = header.dump() + "\n" + row(64, samples(1e6)).dump() + "\n" + failed.dump() + "\n";
  files.add("old.json", document({row(64, samples(1e6)), row(128, samples(1e6))}));
  files.add_text("new.jsonl", whole + "{\"experiment\": \"timing-sw");
  const Outcome outcome = files.compare({"old.json", "new.jsonl"});
  CHECK(outcome.exit_code == 0);
  CHECK(line_of(outcome.out, "fused f32 n=64 d=64").ends_with("| SAME"));
  CHECK(line_of(outcome.out, "fused f32 n=128 d=64").ends_with("| failed in new.jsonl: output differs from the oracle"));
}

TEST_CASE("compare: files that are broken, foreign or of another version are errors that name them") {
  const Documents files;
  files.add("good.json", document({row(64, samples(1e6))}));
  Json other_version = document({row(64, samples(1e6))});
  other_version["schema_version"] = 2;
  files.add("version.json", other_version);
  Json no_time = document({row(64, {1e6, 0})});
  files.add("zero.json", no_time);
  files.add_text("cut.json", document({row(64, samples(1e6))}).dump(1).substr(0, 900));
  files.add_text("foreign.json", R"({"context": {}, "benchmarks": []})");
  files.add_text("empty.json", "");
  check_refused(files.compare({"good.json", "version.json"}), 3, {"version.json", "schema_version: expected 1, found 2"});
  check_refused(files.compare({"version.json", "good.json"}), 3, {"version.json"});
  check_refused(files.compare({"good.json", "zero.json"}), 3, {"zero.json", "samples_ns", "found 0"});
  for (const char* name : {"cut.json", "foreign.json", "empty.json"}) {
    check_refused(files.compare({"good.json", name}), 3, {name, "expected JSON written by attn"});
  }
  check_refused(files.compare({"good.json", "absent.json"}), 3, {"absent.json", "No such file"});
  check_refused(files.compare({"good.json"}), 2, {"NEW"});
  check_refused(files.compare({}), 2, {"OLD"});
  check_refused(files.compare({"good.json", "good.json", "good.json"}), 2, {"unexpected argument 'good.json'"});
  check_refused(files.compare({"good.json", "good.json", "--fail-on-regression", "-1"}), 2, {"--fail-on-regression"});
}

TEST_CASE("compare: what the program itself writes") {
  const Documents files;
  const auto write = [&](const std::vector<std::string>& sweep, const std::string& name) { files.add_text(name, run_attn(sweep).out); };
  write({"timing-sweep", "--what", "scores,fused", "--n", "32,64", "--reps", "12", "--json"}, "a.json");
  write({"timing-sweep", "--what", "scores,fused", "--n", "32,64", "--reps", "12", "--format", "jsonl"}, "b.jsonl");
  const Json rows = files.json({"a.json", "b.jsonl"})["results"];
  REQUIRE(rows.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rows[i]["verdict"].is_string());
    CHECK(rows[i]["input"] == "same");
    CHECK(rows[i]["output"] == "same");
    CHECK(rows[i]["new_samples"] == 12);
  }
  write({"timing-sweep", "--n", "32", "--json"}, "article.json");
  const Json article = files.json({"article.json", "article.json"})["results"];
  CHECK(article[0]["verdict"] == "UNSURE");  // three repetitions under one clock are one time
  CHECK(article[0]["change_percent"] == 0);
  write({"scaling-sweep", "--d-k", "4", "--trials", "20", "--json"}, "scaling.json");
  check_refused(files.compare({"scaling.json", "scaling.json"}), 2, {"times"});
}
