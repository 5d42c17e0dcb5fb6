#include "compare/hosts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace attn {
namespace {

constexpr const char* context_fields[] = {"cpu_model", "isa", "threads", "compiler", "compiler_flags", "library_build_type"};
constexpr const char* row_fields[] = {"isa", "threads"};

std::string value_text(const Json& object, const std::string& name) {
  const Json value = object.value(name, Json());
  if (value.is_null()) return "unknown";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class Differences {
 public:
  void add(const std::string& field, const Json& first, const std::string& first_file, const Json& other, const std::string& other_file) {
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const HostDifference& d) { return d.field == field; });
    if (known || first.value(field, Json()) == other.value(field, Json())) return;
    found_.push_back({field, value_text(first, field), first_file, value_text(other, field), other_file});
  }

  std::vector<HostDifference> take() { return std::move(found_); }

 private:
  std::vector<HostDifference> found_;
};

}  // namespace

std::string HostDifference::text() const {
  return fmt::format("{}: '{}' in {}, '{}' in {}", field, first_value, first_file, other_value, other_file);
}

std::vector<HostDifference> host_differences(const Side& old_side, const Side& new_side, const std::vector<MatchedRow>& rows) {
  Differences differences;
  const ComparedFile& first = old_side.files.front();
  for (const char* field : context_fields) {
    for (const Side* side : {&old_side, &new_side}) {
      for (const ComparedFile& file : side->files) differences.add(field, first.context, first.path, file.context, file.path);
    }
  }
  for (const MatchedRow& row : rows) {
    if (row.old_runs.empty() || row.new_runs.empty()) continue;
    const RunOfRow& one = row.old_runs.front();
    for (const auto* runs : {&row.old_runs, &row.new_runs}) {
      for (const RunOfRow& run : *runs) {
        for (const char* field : row_fields) {
          if (one.row->contains(field) && run.row->contains(field))
            differences.add(field, *one.row, one.file->path, *run.row, run.file->path);
        }
      }
    }
  }
  return differences.take();
}

std::string revision_of(const Json& context) {
  std::vector<std::string> parts;
  const std::string sha = text_of(context, "git_sha");
  if (!sha.empty()) parts.push_back(sha.substr(0, 12) + (context.value("git_dirty", Json()) == true ? "+" : ""));
  const Json libraries = context.value("libraries", Json::object());
  for (const auto& [name, version] : libraries.items()) parts.push_back(name + ' ' + value_text(libraries, name));
  return parts.empty() ? "unknown" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string revisions_of(const Side& side) {
  std::vector<std::string> revisions;
  for (const ComparedFile& file : side.files) {
    const std::string revision = revision_of(file.context);
    if (std::find(revisions.begin(), revisions.end(), revision) == revisions.end()) revisions.push_back(revision);
  }
  return fmt::format("{}", fmt::join(revisions, "; "));
}

}  // namespace attn
