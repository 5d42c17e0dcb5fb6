#include "compare/match_rows.h"

#include <map>
#include <string>
#include <utility>

#include "compare/row_identity.h"

namespace attn {
namespace {

using Runs = std::vector<RunOfRow> MatchedRow::*;

// Equal numbers are equal however they were written: 64 and 64.0.
std::string key_of(const Json& parameters) {
  std::string key;
  for (const auto& [name, value] : parameters.items()) {
    key += name + '=' + (value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump()) + '\n';
  }
  return key;
}

bool rows_differ_in_threads(const Side& side) {
  for (const ComparedFile& file : side.files) {
    for (const Json& row : file.rows) {
      if (row.value("threads", Json()) != file.rows.front().value("threads", Json())) return true;
    }
  }
  return false;
}

class Matcher {
 public:
  explicit Matcher(bool with_threads) : with_threads_(with_threads) {}

  void add(const Side& side, Runs runs) {
    for (const ComparedFile& file : side.files) {
      std::map<std::string, int> seen;
      for (const Json& row : file.rows) {
        const Json parameters = parameters_of(row, with_threads_);
        const std::string key = key_of(parameters);
        (place(key, seen[key]++, parameters).*runs).push_back({&file, &row});
      }
    }
  }

  std::vector<MatchedRow> take() { return std::move(rows_); }

 private:
  MatchedRow& place(const std::string& key, int occurrence, const Json& parameters) {
    const auto [found, is_new] = index_.try_emplace({key, occurrence}, rows_.size());
    if (is_new) rows_.push_back({parameters, {}, {}});
    return rows_[found->second];
  }

  bool with_threads_;
  std::map<std::pair<std::string, int>, std::size_t> index_;
  std::vector<MatchedRow> rows_;
};

}  // namespace

std::vector<MatchedRow> match_rows(const Side& old_side, const Side& new_side) {
  Matcher matcher(rows_differ_in_threads(old_side) || rows_differ_in_threads(new_side));
  matcher.add(old_side, &MatchedRow::old_runs);
  matcher.add(new_side, &MatchedRow::new_runs);
  return matcher.take();
}

}  // namespace attn
