// See pcg64.h.
#include "numpy/pcg64.h"

#include <vector>

namespace attn {

Pcg64::Pcg64(const Seed& seed) : state_(0), increment_(0) {
  const std::vector<std::uint64_t> words = SeedSequence(seed).generate_state_u64(4);
  increment_ = make_uint128(words[2], words[3]) << 1 | 1;
  // One step from 0, the seed added, one step more.
  state_ = (increment_ + make_uint128(words[0], words[1])) * multiplier + increment_;
}

void Pcg64::advance(uint128 delta) {
  const Pcg64Stride stride = pcg64_stride(increment_, delta);
  state_ = state_ * stride.factor + stride.offset;
}

void Pcg64::jump(uint128 jumps) { advance(jumps * make_uint128(0x9e3779b97f4a7c15, 0xf39cc0605cedc835)); }

}  // namespace attn
