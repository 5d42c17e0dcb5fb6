// Prints a report as text, JSON, CSV or Markdown. Each gives a Text, whose measured cells stay marked.
#pragma once

#include <string_view>

#include "report/report.h"

namespace attn {

// Of the JSON document that is printed, described in data/schema/.
inline constexpr int schema_version = 1;

enum class Format { text, json, jsonl, csv, markdown };

// Throws UsageError for an unknown name, naming the known ones.
Format parse_format(std::string_view name);

// `context` is the JSON document's context object (what the machine and the build are); the other formats do not print it.
Text print(const Report& report, Format format, const Json& context);

// The documents' own form; headings name document and block where there is more than one block.
Text print_text(const Report& report);

// {schema_version, context, args, results[]}: one object per row, and one per block that has arrays.
Text print_json(const Report& report, const Json& context);

// The same as lines: first {schema_version, context, args}, then one object per result.
Text print_jsonl(const Report& report, const Json& context);

// A sweep: one line per row. Otherwise long lines: document, block, row, column, value.
Text print_csv(const Report& report);

// A sweep: one table. Otherwise the text in fenced blocks under headings.
Text print_markdown(const Report& report);

// A value as JSON on one line; NaN and infinity as null.
std::string json_value(const Json& value);

}  // namespace attn
