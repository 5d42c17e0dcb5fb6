#include "measure/core_round_trip.h"

#include <algorithm>
#include <cmath>

#include "catch.h"
#include "machine/threads.h"

using namespace attn;

// How long it takes, no test can know; light needs a nanosecond for a chip's width and back.
TEST_CASE("a round trip is measured to each other core, and the caller stays where it may run") {
  const std::vector<int> before = affinity_cpus();
  auto trips = measure_core_round_trips();
  for (int attempt = 0; attempt < 20 && before.size() > 1 && !trips; ++attempt) trips = measure_core_round_trips();  // other tests run too
  CHECK(affinity_cpus() == before);
  CHECK(trips.has_value() == (before.size() > 1));
  if (!trips) return;
  CHECK(trips->pairs == static_cast<int>(std::min<std::size_t>(before.size() - 1, 64)));
  CHECK(std::isfinite(trips->slowest_ns));
  CHECK(trips->fastest_ns > 1);
  CHECK(trips->slowest_ns >= trips->fastest_ns);
}
