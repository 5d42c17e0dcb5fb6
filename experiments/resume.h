// Documents that earlier runs wrote: JSON (--out, --json) or JSON Lines (--format jsonl).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace attn {

// {schema_version, context, args, results} of a file in either form; a last line that was cut off by a kill is left out. Throws FileError
// where the file cannot be read or is no such document.
Json read_document(const std::string& path);

// Throws UsageError, naming the first thing that differs, unless a run with `args` in `context` may go on with the document in `path`:
// the same arguments, build (version, revision, compiler, flags) and machine (CPU, instruction set, threads).
void check_resumable(const Json& document, const std::string& path, const Json& args, const Json& context);

// The results whose status is passed or failed.
std::vector<Json> finished_rows_of(const Json& document);

// The first of `rows` of a block that has every computed (not measured) field of `parameters`, or nullptr.
const Json* find_row(const std::vector<Json>& rows, std::string_view block, const Row& parameters);

// A field of a row that may be null or missing.
template <class Number>
std::optional<Number> optional_number(const Json& row, const char* name) {
  const Json value = row.value(name, Json());
  return value.is_number() ? std::optional<Number>(value.get<Number>()) : std::nullopt;
}

}  // namespace attn
