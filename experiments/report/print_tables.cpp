#include <algorithm>
#include <cmath>

#include "report/printers.h"

namespace attn {
namespace {

// One cell of a table: strings without JSON's quotes, nothing for null, and the numbers that JSON has not: nan, inf, -inf.
std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return fmt::format("{}", value.get<double>());
  return json_value(value);
}

// RFC 4180: quoted where a comma, a quote or a line break stands in it.
std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_cell(const Json& value) { return csv_quoted(cell_text(value)); }

Cell cell_of(const Field* field) { return field != nullptr && field->measured ? Cell::measured : Cell::exact; }

// A sweep's rows as records; where there are several blocks, each says which it belongs to.
std::vector<Row> table_rows(const Report& report) {
  std::vector<Row> rows;
  for (const Block& block : report.blocks) {
    for (const Row& fields : block.rows) {
      Row& row = rows.emplace_back();
      if (report.blocks.size() > 1 && block.document != 0) row.exact("document", block.document);
      if (report.blocks.size() > 1) row.exact("block", block.id);
      row.append(fields);
    }
  }
  return rows;
}

// All the names that the rows use, in order of their first use. Lists and objects (all samples, say) are for JSON.
std::vector<std::string> column_names(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    for (const Field& field : row.fields()) {
      const bool known = std::find(names.begin(), names.end(), field.name) != names.end();
      if (!known && !field.value.is_structured()) names.push_back(field.name);
    }
  }
  return names;
}

// The field of a column as text that `escape` makes fit for the format; nothing where the row has none.
template <class Escape>
void add_cell(Text& text, const Row& row, const std::string& column, const Escape& escape) {
  const Field* field = row.find(column);
  const bool shown = field != nullptr && !field->value.is_structured();
  text.add(shown ? escape(field->value) : "", cell_of(field));
}

void print_sweep_csv(Text& text, const Report& report) {
  const std::vector<Row> rows = table_rows(report);
  const std::vector<std::string> names = column_names(rows);
  text.line(fmt::format("{}", fmt::join(names, ",")));
  for (const Row& row : rows) {
    text.line();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) text.add(",");
      add_cell(text, row, names[i], csv_cell);
    }
  }
}

// document, block, row, column, value; `column` is an index in an array and a name in a row.
void print_long_rows(Text& text, const Block& block) {
  const auto start = [&](const std::string& name, Index row, const std::string& column) {
    text.line(fmt::format("{},{},{},{},", block.document, csv_quoted(name), row, csv_quoted(column)));
  };
  for (std::size_t i = 0; i < block.rows.size(); ++i) {
    for (const Field& field : block.rows[i].fields()) {
      start(block.id, static_cast<Index>(i), field.name);
      text.add(csv_cell(field.value), cell_of(&field));
    }
  }
  for (const Array& array : block.arrays) {
    const Index cols = array.shape.back();
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      const auto at = static_cast<Index>(i);
      start(block.id + '/' + array.name, at / cols, std::to_string(at % cols));
      text.add(csv_cell(array.values[i]));
    }
  }
}

std::string markdown_cell(const Json& value) {
  std::string text = cell_text(value);
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, 1, '\\');
  return text;
}

void print_sweep_markdown(Text& text, const Report& report) {
  const std::vector<Row> rows = table_rows(report);
  const std::vector<std::string> names = column_names(rows);
  text.line(fmt::format("| {} |", fmt::join(names, " | ")));
  text.line("|");
  for (std::size_t i = 0; i < names.size(); ++i) text.add(" --- |");
  for (const Row& row : rows) {
    text.line("|");
    for (const std::string& name : names) {
      text.add(" ");
      add_cell(text, row, name, markdown_cell);
      text.add(" |");
    }
  }
}

}  // namespace

Text print_csv(const Report& report) {
  Text text;
  if (report.tabular) {
    print_sweep_csv(text, report);
    return text;
  }
  text.line("document,block,row,column,value");
  for (const Block& block : report.blocks) print_long_rows(text, block);
  return text;
}

Text print_markdown(const Report& report) {
  Text text;
  if (report.tabular) {
    print_sweep_markdown(text, report);
    return text;
  }
  for (const Block& block : report.blocks) {
    text.line(fmt::format("### Document {}: {}", block.document, block.title)).line().line("```text").append(block.text).line("```").line();
  }
  return text;
}

}  // namespace attn
