// What is done with a finished tile of sums.
#pragma once

namespace attn {

enum class Finish {
  store,   // C = alpha sums
  stream,  // the same past the caches
  add,     // C += alpha sums
  update,  // C = alpha sums + beta C
};

template <class T>
struct Epilogue {
  Finish finish;
  T alpha;
  T beta;  // for update
};

}  // namespace attn
