// What the process and others have used.
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "catch.h"
#include "measure/resource_usage.h"
#include "support/temporary_folder.h"

using namespace attn;

TEST_CASE("peak memory grows with what is touched, and stays") {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const auto before = resource_usage();
  REQUIRE(before.peak_bytes.has_value());
  {
    std::vector<unsigned char> touched(bytes, 1);
    CHECK(touched[bytes / 2] == 1);
  }
  const auto after = resource_usage();
  CHECK(*after.peak_bytes >= *before.peak_bytes);
  CHECK(*after.peak_bytes >= bytes);
}

TEST_CASE("CPU time goes on while the process computes") {
  const double before = resource_usage().cpu_s;
  volatile double sum = 0;
  while (resource_usage().cpu_s <= before) sum = sum + 1;
  CHECK(resource_usage().cpu_s > before);
}

TEST_CASE("CPU time of others is all that is neither idle nor ours") {
  const TemporaryFolder root;
  std::filesystem::create_directories(root.path() / "proc");
  const auto write = [&](const char* text) { std::ofstream(root.path() / "proc" / "stat") << text; };
  // 1000 user, 200 nice, 300 system, 40 irq, 50 softirq, 60 stolen: 16.50 s in ticks of 10 ms.
  write("cpu  1000 200 300 99999 777 40 50 60 11 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  const auto others = others_cpu_s(root.path());
  REQUIRE(others.has_value());
  CHECK(*others + resource_usage().cpu_s == Approx(16.5).margin(0.5));
  write("intr 1 2 3\n");
  CHECK_FALSE(others_cpu_s(root.path()).has_value());
  CHECK(average_load(10.0, 13.0, 2.0) == 1.5);
  CHECK(average_load(10.0, 9.9, 2.0) == 0.0);  // counts that were rounded differently
  CHECK_FALSE(average_load(10.0, 13.0, 0.49).has_value());
  CHECK_FALSE(average_load(std::nullopt, 13.0, 2.0).has_value());
  CHECK_FALSE(average_load(10.0, std::nullopt, 2.0).has_value());
  CHECK_FALSE(others_cpu_s("/nowhere").has_value());
}
