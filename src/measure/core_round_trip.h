// How long a cache line takes from one core to another and back: what threads pay that work on each other's results.
//
// Cores that share a cache answer in some 50 ns, hardware threads of one core sooner; where they share none (two core complexes of AMD's
// EPYC, two sockets) it takes several times as long, and on a virtual machine the host may change which of them a virtual core runs on from
// one minute to the next.
#pragma once

#include <optional>

namespace attn {

struct CoreRoundTrips {
  int pairs = 0;          // pairs of cores that were measured
  double fastest_ns = 0;  // between the two nearest
  double slowest_ns = 0;  // between the two farthest
};

// Between the first CPU that this process may use and the others, of more than 64 as many of them, evenly spread; each time the best of
// some short series. Takes some milliseconds per pair. None where there is only one CPU, where threads cannot be had or bound to CPUs, or
// where other work leaves them no time together.
std::optional<CoreRoundTrips> measure_core_round_trips();

}  // namespace attn
