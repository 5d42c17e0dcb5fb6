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

namespace {

std::string heading(const Block& block, Headings headings) {
  if (headings == Headings::per_document) return fmt::format("== Document {} ==", block.document);
  return fmt::format("== Document {}: {} ({}) ==", block.document, block.title, block.id);
}

}  // namespace

Text print_text(const Report& report) {
  const auto& blocks = report.blocks;
  const bool several_documents = !blocks.empty() && blocks.front().document != blocks.back().document;
  const bool per_block = report.headings == Headings::per_block && blocks.size() > 1;
  const bool per_document = report.headings == Headings::per_document && several_documents;
  Text text;
  int document = -1;
  for (const Block& block : blocks) {
    if (per_block || (per_document && block.document != document)) {
      if (!text.lines().empty()) text.line();
      text.line(heading(block, report.headings));
    }
    document = block.document;
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
