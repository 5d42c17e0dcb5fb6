// Were the documents made on the same machine, by the same build, with as many threads? Otherwise their times cannot be compared.
#pragma once

#include <string>
#include <vector>

#include "compare/match_rows.h"
#include "compare/side.h"

namespace attn {

struct HostDifference {
  std::string field;
  std::string first_value, first_file;
  std::string other_value, other_file;

  // "cpu_model: 'A' in a.json, 'B' in b.json"
  std::string text() const;
};

// What differs between the first old document and any other, each field at most once: cpu_model, isa, threads, compiler, compiler_flags,
// library_build_type of the context, isa and threads of matched rows.
std::vector<HostDifference> host_differences(const Side& old_side, const Side& new_side, const std::vector<MatchedRow>& rows);

// The source that a document's program was built from, "0123456789ab", with "+" where files were changed, and the versions of the
// libraries that a peer's document names: "torch 2.15.0"; "unknown" without either.
std::string revision_of(const Json& context);

// The revisions of all files of a side, each once.
std::string revisions_of(const Side& side);

}  // namespace attn
