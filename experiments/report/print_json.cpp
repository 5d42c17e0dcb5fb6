#include <cmath>

#include "report/printers.h"

namespace attn {
namespace {

// NaN and infinity are no JSON: null, at any depth.
Json without_nonfinite(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return nullptr;
  if (!value.is_structured()) return value;
  Json clean = value;
  for (auto& element : clean) element = without_nonfinite(element);
  return clean;
}

// A vector as a list, a matrix as a list of its rows, and so on: the dimensions from `depth` on of the part that begins at `first`.
Json nested(const Array& array, std::size_t depth, std::vector<double>::const_iterator first) {
  const Index count = array.shape[depth];
  if (depth + 1 == array.shape.size()) return std::vector<double>(first, first + count);
  Index step = 1;
  for (std::size_t d = depth + 1; d < array.shape.size(); ++d) step *= array.shape[d];
  Json parts = Json::array();
  for (Index i = 0; i < count; ++i) parts.push_back(nested(array, depth + 1, first + i * step));
  return parts;
}

std::vector<Field> identity(const Report& report, const Block& block) {
  std::vector<Field> fields = {{"experiment", report.experiment}};
  if (block.document != 0) fields.push_back({"document", block.document});
  if (!block.id.empty()) fields.push_back({"block", block.id});
  return fields;
}

// What results[] holds: an object (its fields in order) per row, and one more per block for its arrays.
std::vector<std::vector<Field>> results(const Report& report) {
  std::vector<std::vector<Field>> all;
  for (const Block& block : report.blocks) {
    for (const Row& row : block.rows) {
      std::vector<Field> fields = identity(report, block);
      fields.insert(fields.end(), row.fields().begin(), row.fields().end());
      all.push_back(std::move(fields));
    }
    if (block.arrays.empty()) continue;
    std::vector<Field> fields = identity(report, block);
    for (const Array& array : block.arrays) fields.push_back({array.name, nested(array, 0, array.values.begin())});
    all.push_back(std::move(fields));
  }
  return all;
}

void print_member(Text& text, std::string_view indent, const Field& field, bool last) {
  text.line(fmt::format("{}{}: ", indent, Json(field.name).dump()));
  text.add(json_value(field.value), field.measured ? Cell::measured : Cell::exact);
  if (!last) text.add(",");
}

void print_object(Text& text, std::string_view indent, const std::vector<Field>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) print_member(text, indent, fields[i], i + 1 == fields.size());
}

std::vector<Field> members(const Json& object, bool measured) {
  std::vector<Field> fields;
  for (const auto& [name, value] : object.items()) fields.push_back({name, value, measured});
  return fields;
}

}  // namespace

std::string json_value(const Json& value) { return without_nonfinite(value).dump(-1, ' ', false, Json::error_handler_t::replace); }

Text print_json(const Report& report, const Json& context) {
  Text text;
  text.line("{");
  text.line(fmt::format("  \"schema_version\": {},", schema_version));
  text.line("  \"context\": {");
  print_object(text, "    ", members(context, true));
  text.line("  },");
  text.line("  \"args\": {");
  print_object(text, "    ", members(report.args, false));
  text.line("  },");
  text.line("  \"results\": [");
  const auto rows = results(report);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text.line("    {");
    print_object(text, "      ", rows[i]);
    text.line(i + 1 < rows.size() ? "    }," : "    }");
  }
  text.line("  ]");
  text.line("}");
  return text;
}

// The first line holds the context, every further one a row.
Text print_jsonl(const Report& report, const Json& context) {
  Text text;
  text.line(fmt::format("{{\"schema_version\":{},\"context\":", schema_version)).add(json_value(context), Cell::measured);
  text.add(fmt::format(",\"args\":{}}}", json_value(report.args)));
  for (const std::vector<Field>& row : results(report)) {
    text.line("{");
    for (std::size_t i = 0; i < row.size(); ++i) {
      text.add(fmt::format("{}{}:", i > 0 ? "," : "", Json(row[i].name).dump()));
      text.add(json_value(row[i].value), row[i].measured ? Cell::measured : Cell::exact);
    }
    text.add("}");
  }
  return text;
}

}  // namespace attn
