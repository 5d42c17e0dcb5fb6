#include "compare/side.h"

#include <cmath>
#include <set>

#include "machine/error.h"
#include "options/split.h"
#include "report/printers.h"
#include "resume.h"

namespace attn {
namespace {

std::vector<std::string> split_list(const std::string& side, const std::string& list) {
  std::vector<std::string> paths = split(list, ',');
  std::set<std::string> known;
  for (const std::string& path : paths) {
    if (path.empty()) throw UsageError(fmt::format("compare: {}: expected FILE[,FILE...], found '{}'", side, list));
    if (!known.insert(path).second) throw UsageError(fmt::format("compare: {}: {} is named twice: a run counts once", side, path));
  }
  return paths;
}

ComparedFile read_file_of(const std::string& path) {
  const Json document = read_document(path);
  if (document["schema_version"] != schema_version) {
    throw FileError(fmt::format("{}: schema_version: expected {}, found {}", path, schema_version, document["schema_version"].dump()));
  }
  ComparedFile file{path, document["context"], {}};
  for (const Json& row : document["results"]) {
    if (!row.is_object()) throw FileError(fmt::format("{}: results: expected objects, found {}", path, row.type_name()));
    if (row.contains("status")) file.rows.push_back(row);
  }
  return file;
}

double positive(const ComparedFile& file, const std::string& name, const Json& value) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!(number > 0) || !std::isfinite(number)) {
    throw FileError(fmt::format("{}: {}: expected positive numbers, found {}", file.path, name, json_value(value)));
  }
  return number;
}

}  // namespace

Side read_side(const std::string& name, const std::string& list) {
  Side side{name, {}};
  for (const std::string& path : split_list(name, list)) side.files.push_back(read_file_of(path));
  return side;
}

std::vector<double> times_ns(const ComparedFile& file, const Json& row) {
  std::vector<double> times;
  const Json samples = row.value("samples_ns", Json());
  if (!samples.is_null() && !samples.is_array()) {
    throw FileError(fmt::format("{}: samples_ns: expected a list, found {}", file.path, samples.type_name()));
  }
  for (const Json& sample : samples) times.push_back(positive(file, "samples_ns", sample));
  if (!times.empty()) return times;
  const Json time_s = row.value("time_s", Json());
  if (!time_s.is_object()) return times;
  for (const char* statistic : {"median", "mean"}) {
    if (!time_s.contains(statistic)) continue;
    times.push_back(1e9 * positive(file, fmt::format("time_s.{}", statistic), time_s[statistic]));
    break;
  }
  return times;
}

std::string text_of(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace attn
