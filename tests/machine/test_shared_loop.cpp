#include "machine/shared_loop.h"

#include <algorithm>
#include <vector>

#include "catch.h"

using namespace attn;

namespace {

// Every loop counts each of its steps once, and reads what all steps of the loop before have written, whoever took them.
void check_loops(int most_threads, int num_threads, const std::vector<std::int64_t>& counts) {
  SharedLoop shared(most_threads);
  std::vector<std::vector<int>> visits;
  for (const std::int64_t count : counts) visits.emplace_back(count, 0);
  std::int64_t missed = 0;
#pragma omp parallel num_threads(num_threads) reduction(+ : missed)
  for (std::size_t loop = 0; loop < counts.size(); ++loop) {
    shared.run(counts[loop], static_cast<std::int64_t>(loop), [&](std::int64_t i) {
      ++visits[loop][static_cast<std::size_t>(i)];
      if (loop == 0) return;
      for (const int seen : visits[loop - 1]) missed += seen != 1;
    });
  }
  CHECK(missed == 0);
  for (const auto& loop : visits) CHECK(std::all_of(loop.begin(), loop.end(), [](int n) { return n == 1; }));
}

}  // namespace

TEST_CASE("a shared loop takes every step once, and waits before the next") {
  for (const int threads : {1, 2, 3, 5}) {
    INFO("threads " << threads);
    for (int repetition = 0; repetition < 20; ++repetition) check_loops(threads, threads, {7, 0, 1, 64, 3, 200, 2, 2, 0, 0, 31});
  }
}

TEST_CASE("a shared loop leaves no step to threads that the region did not get") { check_loops(8, 2, {9, 100, 1, 30}); }

TEST_CASE("a thread takes the steps of its own range, neighbours to each other, first") {
  SharedLoop shared(2);
  std::vector<int> taken_by(1000, -1);
#pragma omp parallel num_threads(2)
  {
    const int thread = omp_get_thread_num();
    // Neither is done before the other has begun.
    std::vector<std::int64_t> first;
    shared.run(1000, 0, [&](std::int64_t i) {
      if (first.empty()) {
        first.push_back(i);
#pragma omp barrier
      }
      taken_by[static_cast<std::size_t>(i)] = thread;
    });
#pragma omp critical
    CHECK(first == std::vector<std::int64_t>{thread * 500});
  }
  CHECK(taken_by[0] == 0);
  CHECK(taken_by[500] == 1);
  CHECK(std::count(taken_by.begin(), taken_by.end(), -1) == 0);
}
