// What every subcommand writes as JSON, against data/schema/attn.schema.json, by a validator that is not ours.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/npy.h"
#include "io/read_file.h"
#include "io/tensor_file.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

using Json = nlohmann::json;

namespace {

const Json& schema_text() {
  static const Json text = Json::parse(attn::read_file(ATTN_DATA_DIR "/schema/attn.schema.json"));
  return text;
}

// One definition of the schema: "Document", "Header", "Result", ...
class Definition {
 public:
  explicit Definition(const std::string& name) {
    const Json root = {{"$ref", "#/definitions/" + name}, {"definitions", schema_text()["definitions"]}};
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(root), schema_);
  }

  // Empty where `value` is valid.
  std::string fault(const Json& value) const {
    valijson::Validator validator;
    valijson::ValidationResults results;
    if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), &results)) return "";
    std::string all = "not valid";
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      all += "\n";
      for (const std::string& place : error.context) all += place;
      all += ": " + error.description;
    }
    return all;
  }

  bool accepts(const Json& value) const { return fault(value).empty(); }

 private:
  valijson::Schema schema_;
};

const Definition& definition(const std::string& name) {
  static std::map<std::string, Definition> known;
  return known.try_emplace(name, name).first->second;
}

// A call of every subcommand, in each way that makes rows of a kind of their own.
std::vector<std::vector<std::string>> calls(const attn::TemporaryFolder& folder) {
  const std::string tensor = ATTN_DATA_DIR "/pytorch/document1_full.npy";
  const std::string runs = (folder.path() / "runs.json").string();
  run_attn({"timing-sweep", "--what", "fused", "--n", "16,32", "--reps", "10", "--out", runs});
  const std::string other = ATTN_DATA_DIR "/pytorch/document1_causal.npy";
  const std::string row = (folder.path() / "row.npy").string();  // of another shape
  run_attn({"run", "--q", tensor, "--k", tensor, "--v", tensor, "--save-lse", row});
  const std::string nan = folder / "nan.npy";  // an output with numbers, a NaN and an infinity, which an allowance of 0 turns to null
  attn::Tensor broken = attn::read_tensor(other);
  broken.as<double>()[1] = std::numeric_limits<double>::quiet_NaN();
  broken.as<double>()[2] = std::numeric_limits<double>::infinity();
  attn::OutputFile file(nan);
  attn::write_npy(file, broken);
  file.commit();
  return {{"demo"},
          {"demo", "--heads", "2", "--batch", "2"},
          {"causal"},
          {"figure", "full"},
          {"figure", "sentence"},
          {"figure", "sentence", "--all-heads"},
          {"reproduce"},
          {"reproduce", "--check"},
          {"scaling-sweep", "--d-k", "4,8", "--trials", "20", "--gradients"},
          {"scaling-sweep", "--d-k", "4,1000000000000", "--trials", "20", "--gradients"},
          {"scaling-sweep", "--d-k", "4,8", "--gradients", "--dry-run"},
          {"timing-sweep", "--n", "16,32"},
          {"claims", "--only", "spread,training,heads,no-peek,dispatch", "--quick"},
          {"timing-sweep", "--what", "scores,standard,fused,decode,gemm", "--n", "16,32,64", "--reps", "6", "--causal"},
          {"timing-sweep", "--what", "fused", "--n", "16", "--reps", "2", "--window", "3,0", "--softcap", "5"},
          {"timing-sweep", "--what", "fused", "--n", "1000000000", "--reps", "1"},
          {"timing-sweep", "--dry-run", "--n", "16"},
          {"timing-sweep", "--explain", "--n", "16"},
          {"generate-sweep", "--n", "4,8,16", "--d-model", "12", "--heads", "3", "--reps", "6"},
          {"generate-sweep", "--n", "1000000000", "--reps", "1"},
          {"generate-sweep", "--dry-run", "--n", "4"},
          {"layer-sweep", "--n", "4,8,16,200", "--d-model", "12", "--heads", "3", "--reps", "6", "--causal"},
          {"layer-sweep", "--n", "1000000000", "--reps", "1"},
          {"layer-sweep", "--dry-run", "--n", "4", "--dtype", "f64"},
          {"compare", runs, runs},
          {"run", "--q", tensor, "--k", tensor, "--v", tensor},
          {"run",
           "--q",
           tensor,
           "--k",
           tensor,
           "--v",
           tensor,
           "--layout",
           "packed",
           "--num-heads",
           "2",
           "--num-kv-heads",
           "2",
           "--causal",
           "--align",
           "top-left",
           "--window",
           "3,1",
           "--scale",
           "0.5",
           "--softcap",
           "4",
           "--softmax-precision",
           "f64",
           "--save-scores",
           folder / "s.npy",
           "--scores-stage",
           "capped",
           "--save-output",
           folder / "o.npy"},
          {"check", "--q", tensor, "--k", tensor, "--v", tensor, "--expect-output", other},
          {"check", "--q", tensor, "--k", tensor, "--v", tensor, "--causal", "--q-offset", "-1", "--expect-output", nan, "--strict",
           "--accumulate", "bf16", "--save-failing", folder / "failing"},
          {"diff", tensor, other},
          {"diff", tensor, nan, "--rtol", "0.1"},
          {"diff", tensor, row},
          {"env"}};
}

std::string text_of(const std::vector<std::string>& call) {
  std::string text;
  for (const std::string& word : call) text += word + " ";
  return text;
}

// The subcommands that `attn --help` lists, but `help`, which writes no JSON.
std::set<std::string> subcommands() {
  std::set<std::string> names;
  const std::string help = run_attn({"--help"}).out;
  std::istringstream lines(help.substr(help.find("Subcommands:\n")));
  const std::regex name("^  ([a-z-]+)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, name)) names.insert(match[1]);
  }
  names.erase("help");
  return names;
}

// The kind of row that the schema takes `row` for.
std::string kind_of(const Json& row) {
  for (const Json& kind : schema_text()["definitions"]["Result"]["anyOf"]) {
    const std::string name = kind["$ref"].get<std::string>().substr(std::string("#/definitions/").size());
    if (definition(name).accepts(row)) return name;
  }
  return "";
}

// Every way to misspell a field, to leave out one that the kind requires, or to give it a type that no field has.
void check_mutations(const std::string& kind, const Json& row) {
  std::size_t fields = 0;
  for (const auto& [name, value] : row.items()) {
    if (sanitized && ++fields % 4 != 0) continue;
    INFO(kind << ": " << name);
    Json misspelt = row;
    misspelt.erase(name);
    const Json required = schema_text()["definitions"][kind]["required"];
    const bool is_required = std::find(required.begin(), required.end(), name) != required.end();
    CHECK(definition(kind).accepts(misspelt) != is_required);
    misspelt[name + "_"] = value;
    CHECK_FALSE(definition("Result").accepts(misspelt));
    if (name == "parameters") continue;  // an object of the compared rows' own
    Json other_type = row;
    other_type[name] = {{"an", "object"}};
    CHECK_FALSE(definition("Result").accepts(other_type));
  }
}

// Whether each property says what it is, itself or where it refers to.
void check_described(const std::string& name, const Json& properties) {
  for (const auto& [property, value] : properties.items()) {
    INFO(name << ": " << property);
    const bool refers = value.contains("$ref");
    const Json& described =
        refers ? schema_text()["definitions"][value["$ref"].get<std::string>().substr(std::string("#/definitions/").size())] : value;
    CHECK((described.contains("description") || described.contains("const") || described.contains("enum")));
  }
}

}  // namespace

TEST_CASE("every subcommand's JSON is valid, as a document and as lines, and mutations of it are not") {
  const attn::TemporaryFolder folder;
  std::set<std::string> left = subcommands();
  REQUIRE(left.size() > 5);
  std::set<std::string> kinds;
  for (std::vector<std::string> call : calls(folder)) {
    INFO(text_of(call));
    left.erase(call.front());
    const std::string file = (folder.path() / "out.json").string();
    call.insert(call.end(), {"--format", "jsonl", "--out", file});
    std::filesystem::remove(file);
    const Outcome outcome = run_attn(call);
    INFO(outcome.err);
    std::istringstream lines(outcome.out);
    REQUIRE(std::filesystem::exists(file));
    const Json document = Json::parse(attn::read_file(file));
    CHECK(definition("Document").fault(document).empty());
    CHECK_FALSE(document["results"].empty());
    for (const Json& row : document["results"]) {
      const std::string kind = kind_of(row);
      INFO(row.dump());
      REQUIRE_FALSE(kind.empty());
      if (kinds.insert(kind).second) check_mutations(kind, row);
    }
    std::string line;
    std::getline(lines, line);
    CHECK(definition("Header").fault(Json::parse(line)).empty());
    std::size_t rows = 0;
    for (; std::getline(lines, line); ++rows) CHECK(definition("Result").fault(Json::parse(line)).empty());
    CHECK(rows == document["results"].size());
  }
  INFO("subcommands without a call here: " << text_of({left.begin(), left.end()}));
  CHECK(left.empty());
  for (const Json& kind : schema_text()["definitions"]["Result"]["anyOf"]) {
    INFO("no call here makes a row of " << kind.dump());
    CHECK(kinds.count(kind["$ref"].get<std::string>().substr(std::string("#/definitions/").size())) == 1);
  }
}

TEST_CASE("the head of a document is checked as strictly as its rows") {
  const Json document = Json::parse(run_attn({"scaling-sweep", "--d-k", "4", "--trials", "20", "--json"}).out);
  REQUIRE(definition("Document").accepts(document));
  for (const char* member : {"context", "args"}) {
    for (const auto& [name, value] : document[member].items()) {
      INFO(member << ": " << name);
      Json without = document;
      without[member].erase(name);
      CHECK_FALSE(definition("Document").accepts(without));
      without[member][name + "_"] = value;
      CHECK_FALSE(definition("Document").accepts(without));
    }
  }
  for (const char* member : {"schema_version", "context", "args", "results"}) {
    Json without = document;
    without.erase(member);
    CHECK_FALSE(definition("Document").accepts(without));
  }
  Json other_version = document;
  other_version["schema_version"] = 2;
  CHECK_FALSE(definition("Document").accepts(other_version));
}

TEST_CASE("the schema describes every field") {
  for (const auto& [name, value] : schema_text()["definitions"].items()) {
    INFO(name);
    CHECK(value.contains("description"));
    if (value.contains("properties")) check_described(name, value["properties"]);
  }
}
