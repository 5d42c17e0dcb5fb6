// Generation with and without a cache of keys and values, for tests that spoil the cache.
#pragma once

#include <functional>

#include "transformer/generation.h"
#include "transformer/plain_layer.h"
#include "verify/generation_check.h"

namespace attn {

// n tokens generated both ways; `meddle` is called after every step with a cache and may spoil it.
template <class T>
class BothWays {
 public:
  using Meddle = std::function<void(KvCache<T>& cache, Index t)>;

  BothWays(Index n, Index d_model, Index heads, const Meddle& meddle = {})
      : heads_(heads),
        x_(random_matrix<T>(n, d_model, 1)),
        weights_(random_weights<T>(d_model, 2)),
        buffers_(n, d_model),
        uncached(n, d_model),
        cached(n, d_model) {
    generate_uncached<T>(weights_, heads, x_.view(), buffers_, uncached.view());
    KvCache<T> cache(n, d_model);
    CachedBuffers<T> step(d_model);
    for (Index t = 0; t < n; ++t) {
      cached_step<T>(weights_, heads, x_.view().block(t, 0, 1, d_model), cache, step, cached.view().block(t, 0, 1, d_model));
      if (meddle) meddle(cache, t);
    }
  }

  GenerationAgreement compare() const {
    return compare_generation(GeneratedRows<T>{x_.view(), weights_.q.view(), weights_.k.view(), weights_.v.view(), weights_.o.view(),
                                               heads_, buffers_.q.view(), buffers_.k.view(), buffers_.v.view(), uncached.view(),
                                               cached.view()});
  }

 private:
  Index heads_;
  Matrix<T> x_;
  AttentionWeights<T> weights_;
  UncachedBuffers<T> buffers_;

 public:
  Matrix<T> uncached, cached;
};

}  // namespace attn
