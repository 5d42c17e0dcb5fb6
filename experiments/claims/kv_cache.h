// Claim `kv-cache`: keeping keys and values makes generating long texts affordable.
//
// n tokens are generated in one attention layer, with and without a cache (generate_sweep.h). Step t without one projects t tokens again
// and attends with t queries, 8 t d^2 + 2 t (t + 1) d operations, so that the time in all should grow at least as n^2; with one it projects
// a single token and attends with one query, 8 d^2 + 4 t d, so that it should grow as n while n is small beside 2 d. Times are fitted as
// c n^e. Both ways must give the same outputs.
//
// Source: document 2 on long contexts; transformer/generation.h.
#pragma once

#include "claims/claim.h"
#include "claims/timed.h"
#include "generate_sweep.h"

namespace attn {

struct KvCacheNumbers {
  FittedExponent uncached_time, cached_time;  // in n, of all tokens together
  double speedup = 0;                         // at the largest n
  bool right = false;                         // both ways' outputs are the oracle's, within what rounding allows
};

// What rows of both ways say. Wrong outputs decide by themselves, whatever was timed. Throws MemoryError where fewer than three sizes could
// be timed in both ways.
Finding kv_cache_finding(const std::vector<GenerationRow>& rows);

Judged judge_kv_cache(const KvCacheNumbers& numbers);

Claim kv_cache_claim();

}  // namespace attn
