// The list of claims: a new one is its function, named here.
#include "claims/bottleneck.h"
#include "claims/claim.h"
#include "claims/fused_speed.h"
#include "claims/kv_cache.h"
#include "claims/masking.h"
#include "claims/peers.h"
#include "claims/pytorch.h"
#include "claims/quadratic.h"
#include "claims/saturation.h"
#include "claims/sparse.h"
#include "claims/spread.h"
#include "claims/vanishing.h"

namespace attn {

std::vector<Claim> all_claims() {
  return {spread_claim(),   saturation_claim(), scaled_constant_claim(), gradients_claim(), training_claim(), quadratic_claim(),
          heads_claim(),    no_peek_claim(),    last_row_claim(),        first_row_claim(), pytorch_claim(),  fused_claim(),
          dispatch_claim(), kv_cache_claim(),   sparse_claim(),          bottleneck_claim()};
}

}  // namespace attn
