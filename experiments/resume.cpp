#include "resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/read_file.h"
#include "machine/error.h"

namespace attn {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw FileError(path + ": document: expected JSON written by attn, found " + why);
}

// JSON Lines: the first line holds everything but the results.
Json read_lines(const std::string& path, std::string_view text) {
  Json document;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // a line without its end was being written
    Json line = Json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(end + 1);
    if (!line.is_object()) refuse(path, "a line that is none");
    if (document.is_null()) {
      document = std::move(line);
      document["results"] = Json::array();
    } else {
      document["results"].push_back(std::move(line));
    }
  }
  return document;
}

// The parts of the context that must be the same for times to be comparable.
constexpr const char* same_context[] = {"cpu_model",      "isa",          "threads", "library_build_type", "compiler",
                                        "compiler_flags", "attn_version", "git_sha", "git_dirty"};

void expect_same(const std::string& path, const std::string& name, const Json& here, const Json& there) {
  if (here == there) return;
  throw UsageError(fmt::format("--resume: {}: {}: expected {}, found {}", path, name, here.dump(), there.dump()));
}

}  // namespace

Json read_document(const std::string& path) {
  const std::string text = read_file(path);
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.contains("results")) document = read_lines(path, text);
  for (const char* member : {"schema_version", "context", "args", "results"}) {
    if (!document.is_object() || !document.contains(member)) refuse(path, fmt::format("no '{}'", member));
  }
  if (!document["results"].is_array() || !document["context"].is_object()) refuse(path, "members of the wrong kind");
  return document;
}

void check_resumable(const Json& document, const std::string& path, const Json& args, const Json& context) {
  for (const auto& [name, value] : args.items()) expect_same(path, name, value, document["args"].value(name, Json()));
  for (const auto& [name, value] : document["args"].items()) expect_same(path, name, args.value(name, Json()), value);
  for (const char* name : same_context) expect_same(path, name, context.value(name, Json()), document["context"].value(name, Json()));
}

std::vector<Json> finished_rows_of(const Json& document) {
  std::vector<Json> rows;
  for (const Json& row : document["results"]) {
    const Json status = row.is_object() ? row.value("status", Json()) : Json();
    if (status == "passed" || status == "failed") rows.push_back(row);
  }
  return rows;
}

const Json* find_row(const std::vector<Json>& rows, std::string_view block, const Row& parameters) {
  const auto same = [&](const Json& row) {
    return row.value("block", Json()) == block &&
           std::all_of(parameters.fields().begin(), parameters.fields().end(),
                       [&row](const Field& field) { return field.measured || row.value(field.name, Json()) == field.value; });
  };
  const auto found = std::find_if(rows.begin(), rows.end(), same);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace attn
