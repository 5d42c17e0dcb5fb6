// A loop shared out among the threads.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

namespace attn {

// Calls body(i) for 0 <= i < count on num_threads threads, each taking the next i when it is free. An exception ends the loop as soon as
// the calls under way return, and the first one is thrown again. Within another parallel loop everything runs in the calling thread.
//
// A single thread opens no parallel region, not even one of its own: what `body` itself shares out would be nested in it, and OpenMP starts
// new threads for every nested region instead of waking the ones it has.
template <class Body>
void parallel_for(std::int64_t count, int num_threads, Body&& body) {
  if (num_threads <= 1 || count <= 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::exception_ptr error;
  std::mutex error_mutex;
  bool failed = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(num_threads)
  for (std::int64_t i = 0; i < count; ++i) {
    bool skip;
#pragma omp atomic read
    skip = failed;
    if (skip) continue;
    try {
      body(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(error_mutex);
      if (!error) error = std::current_exception();
#pragma omp atomic write
      failed = true;
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace attn
