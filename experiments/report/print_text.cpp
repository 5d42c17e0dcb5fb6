#include "machine/error.h"
#include "report/printers.h"

namespace attn {

Format parse_format(std::string_view name) {
  if (name == "text") return Format::text;
  if (name == "json") return Format::json;
  if (name == "jsonl") return Format::jsonl;
  if (name == "csv") return Format::csv;
  if (name == "markdown") return Format::markdown;
  throw UsageError(fmt::format("--format: expected text, json, jsonl, csv or markdown, found '{}'", name));
}

Text print_text(const Report& report) {
  Text text;
  const bool headings = report.headings && report.blocks.size() > 1;
  for (const Block& block : report.blocks) {
    if (headings && !text.lines().empty()) text.line();
    if (headings) text.line(fmt::format("== Document {}: {} ({}) ==", block.document, block.title, block.id));
    text.append(block.text);
  }
  return text;
}

Text print(const Report& report, Format format, const Json& context) {
  switch (format) {
    case Format::text:
      return print_text(report);
    case Format::json:
      return print_json(report, context);
    case Format::jsonl:
      return print_jsonl(report, context);
    case Format::csv:
      return print_csv(report);
    case Format::markdown:
      return print_markdown(report);
  }
  return {};
}

}  // namespace attn
