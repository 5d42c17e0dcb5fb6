// What made this build: source revision, compiler, flags. Found out at build time (cmake/BuildFacts.cmake).
#pragma once

#include <optional>
#include <string>

namespace attn {

struct BuildFacts {
  std::string attn_version;
  std::string library_build_type;      // as CMake names it, in lower case: release, debug, relwithdebinfo
  std::string compiler;                // id and version, "GNU 12.2.0"
  std::string compiler_flags;          // all that change the code; warnings are left out
  std::optional<std::string> git_sha;  // 40 digits; empty for a build from a tarball or without git
  std::optional<bool> git_dirty;       // tracked files differed from git_sha; empty like it
};

BuildFacts build_facts();

}  // namespace attn
