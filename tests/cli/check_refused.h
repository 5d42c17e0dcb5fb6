// What every refused call looks like: nothing on stdout, one line on stderr.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/run_attn.h"

// The line begins with "attn: " and holds all `parts`.
inline void check_refused(const Outcome& outcome, int exit_code, const std::vector<std::string>& parts) {
  INFO(outcome.err);
  CHECK(outcome.exit_code == exit_code);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("attn: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  for (const std::string& part : parts) CHECK(contains(outcome.err, part));
}
