#include "machine/parallel.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "catch.h"

using namespace attn;

// A nested region would start threads anew each time, and all that they keep of their own with them.
TEST_CASE("what a loop of one thread shares out is done by threads that are there already") {
  std::mutex mutex;
  std::set<long> ids;
  for (int repetition = 0; repetition < 30; ++repetition) {
    for (const std::int64_t count : {1, 3}) {
      parallel_for(count, count == 1 ? 2 : 1, [&](std::int64_t) {
        parallel_for(8, 2, [&](std::int64_t) {
          usleep(50);  // so that both threads get some
          const std::lock_guard<std::mutex> lock(mutex);
          ids.insert(syscall(SYS_gettid));
        });
      });
    }
  }
  CHECK(ids.size() == 2);
}
