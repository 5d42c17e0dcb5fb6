#include "machine/isa_targets.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "catch.h"
#include "machine/error.h"
#include "support/for_each_target.h"

using namespace attn;

TEST_CASE("the best available target is the active one") {
  REQUIRE_FALSE(available_targets().empty());
  CHECK(active_target() == available_targets().front());
}

TEST_CASE("a forced target is the one that runs") {
  std::set<std::string> seen;
  for_each_target([&](const std::string& name) {
    CHECK(active_target() == name);
    CHECK(available_targets().size() >= seen.size());
    seen.insert(active_target());
  });
  CHECK(seen.size() == available_targets().size());
  CHECK(active_target() == available_targets().front());
}

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("the processor's targets are found") {
  const auto names = available_targets();
  const auto has = [&](const char* name) { return std::count(names.begin(), names.end(), name) == 1; };
  CHECK(has("AVX2") == (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")));
  CHECK(has("AVX3") == (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq")));
  CHECK((has("SCALAR") || has("EMU128")));
}
#endif

TEST_CASE("names are understood in any case and by their other names") {
  for (const std::string& name : available_targets()) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
    force_target(lower);
    CHECK(active_target() == name);
  }
  force_target("portable");
  CHECK(active_target() == available_targets().back());
  force_target("scalar");
  CHECK(active_target() == available_targets().back());
  unforce_target();
}

TEST_CASE("an unknown target is an error that names those there are") {
  for (const char* name : {"AVX9", "", "avx2 ", "NEON,AVX2"}) {
    try {
      force_target(name);
      FAIL("no error for '" << name << "'");
    } catch (const UsageError& error) {
      const std::string message = error.what();
      CHECK(message.find("'" + std::string(name) + "'") != std::string::npos);
      for (const std::string& available : available_targets()) CHECK(message.find(available) != std::string::npos);
    }
  }
  CHECK(active_target() == available_targets().front());
}

TEST_CASE("ATTN_ISA forces a target") {
  ::setenv("ATTN_ISA", available_targets().back().c_str(), 1);
  force_target_from_environment();
  CHECK(active_target() == available_targets().back());
  unforce_target();
  ::setenv("ATTN_ISA", "bogus", 1);
  CHECK_THROWS_AS(force_target_from_environment(), UsageError);
  ::setenv("ATTN_ISA", "", 1);
  force_target_from_environment();
  CHECK(active_target() == available_targets().front());
  ::unsetenv("ATTN_ISA");
}
