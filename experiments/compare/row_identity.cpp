#include "compare/row_identity.h"

#include <array>
#include <utility>

namespace attn {
namespace {

constexpr std::array<std::string_view, 22> names = {
    "experiment", "algorithm", "what",        "dtype",        "seq_q",   "seq_k",   "head_dim", "head_dim_v", "heads", "kv_heads", "batch",
    "trials",     "mask",      "window_left", "window_right", "softcap", "d_model", "protocol", "threads",    "seed",  "part",     "id"};

const Json& member(const Json& object, std::string_view name) {
  static const Json absent;
  const auto found = object.find(std::string(name));
  return found == object.end() ? absent : *found;
}

// Rows of different programs, and of different versions of this one, may leave out what is at its default.
bool at_default(const Json& row, std::string_view name, const Json& value) {
  if (value.is_null()) return true;
  if (name == "heads" || name == "batch") return value == 1;
  if (name == "kv_heads") return value == row.value("heads", Json(1));
  if (name == "head_dim_v") return value == 0;  // scores have no values
  if (name == "mask") return value == "none";
  if (name == "softcap") return value == 0;
  if (name == "what") return value == member(row, "algorithm");
  return false;
}

// What needs no name before it.
bool tells_itself(std::string_view name) {
  for (const std::string_view known : {"experiment", "algorithm", "what", "dtype", "mask", "protocol", "part"}) {
    if (name == known) return true;
  }
  return false;
}

// What most rows have in common is left out of the words, and what `n` and `d` have said.
bool goes_without_saying(const Json& parameters, std::string_view name, const Json& value) {
  if (name == "experiment") return value == "timing-sweep";
  if (name == "protocol") return value == "steady";
  if (name == "seed") return value == "0";
  if (name == "seq_k") return value == member(parameters, "seq_q");
  if (name == "head_dim_v") return value == member(parameters, "head_dim");
  return false;
}

std::string_view short_name(const Json& parameters, std::string_view name) {
  if (name == "seq_q" && member(parameters, "seq_k") == member(parameters, "seq_q")) return "n";
  if (name == "head_dim") return "d";
  if (name == "head_dim_v") return "d_v";
  return name;
}

std::string words(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

std::span<const std::string_view> parameter_names() { return names; }

Json parameters_of(const Json& row, bool with_threads) {
  Json parameters = Json::object();
  for (const std::string_view name : names) {
    const Json& value = member(row, name);
    if (at_default(row, name, value) || (name == "threads" && !with_threads)) continue;
    parameters[std::string(name)] = value;
  }
  return parameters;
}

std::string label_of(const Json& parameters) {
  std::string label;
  for (const auto& [name, value] : parameters.items()) {
    if (goes_without_saying(parameters, name, value)) continue;
    if (!label.empty()) label += ' ';
    label += tells_itself(name) ? words(value) : fmt::format("{}={}", short_name(parameters, name), words(value));
  }
  return label;
}

}  // namespace attn
