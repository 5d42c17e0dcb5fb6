#include "measure/build_facts.h"

#include <cctype>

#include "build_facts_generated.h"

namespace attn {

BuildFacts build_facts() {
  BuildFacts facts;
  facts.attn_version = generated::attn_version;
  for (const char letter : std::string(generated::build_type)) facts.library_build_type += static_cast<char>(std::tolower(letter));
  facts.compiler = generated::compiler;
  facts.compiler_flags = generated::compiler_flags;
  if (generated::git_sha[0] != '\0') {
    facts.git_sha = generated::git_sha;
    facts.git_dirty = generated::git_dirty;
  }
  return facts;
}

}  // namespace attn
