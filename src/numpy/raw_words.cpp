// See raw_words.h.
#include "numpy/raw_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numpy/raw_words.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

template <Index n>
HWY_INLINE void load_states(const std::uint64_t* low, const std::uint64_t* high, uint128 (&state)[n]) {
  for (Index k = 0; k < n; ++k) state[k] = make_uint128(high[k], low[k]);
}

template <Index n>
HWY_INLINE void store_states(const uint128 (&state)[n], std::uint64_t* low, std::uint64_t* high) {
  for (Index k = 0; k < n; ++k) {
    low[k] = static_cast<std::uint64_t>(state[k]);
    high[k] = static_cast<std::uint64_t>(state[k] >> 64);
  }
}

template <Index n>
HWY_INLINE void step_states(const Pcg64Stride& by, uint128 (&state)[n], std::uint64_t* HWY_RESTRICT out) {
#pragma GCC unroll 8
  for (Index k = 0; k < n; ++k) {
    out[k] = Pcg64::output(state[k]);
    state[k] = state[k] * by.factor + by.offset;
  }
}

#if HWY_CAP_GE512
namespace hn = hwy::HWY_NAMESPACE;

using U64 = hn::CappedTag<std::uint64_t, 8>;
using U32 = hn::Repartition<std::uint32_t, U64>;
using Vec = hn::Vec<U64>;

// The 32-bit digits of factor and offset, each in all lanes; offset's upper half is one number.
struct Constants {
  Vec factor[4];
  Vec offset_0, offset_1, offset_high;
  Vec low_32;
};

HWY_INLINE Constants broadcast(const Pcg64Stride& stride) {
  const U64 d;
  const auto digit = [d](uint128 value, int i) { return hn::Set(d, static_cast<std::uint32_t>(value >> (32 * i))); };
  return {{digit(stride.factor, 0), digit(stride.factor, 1), digit(stride.factor, 2), digit(stride.factor, 3)},
          digit(stride.offset, 0),
          digit(stride.offset, 1),
          hn::Set(d, static_cast<std::uint64_t>(stride.offset >> 64)),
          hn::Set(d, 0xffffffffU)};
}

// Products of the lower 32 bits of every lane.
HWY_INLINE Vec mul_32(Vec a, Vec b) { return hn::MulEven(hn::BitCast(U32(), a), hn::BitCast(U32(), b)); }

// (high, low) := (high, low) * factor + offset, digit by digit: x = (x3 x2 x1 x0), f likewise. A product of digits leaves room for two
// digits more, so the carries need no comparison.
HWY_INLINE void step(Vec& high, Vec& low, const Constants& c) {
  const U64 d;
  const Vec x1 = hn::ShiftRight<32>(low);
  const Vec x3 = hn::ShiftRight<32>(high);
  // 1. The lower 64 bits, and what they carry.
  const Vec column_0 = hn::Add(mul_32(low, c.factor[0]), c.offset_0);
  const Vec column_1a = hn::Add(mul_32(low, c.factor[1]), hn::ShiftRight<32>(column_0));
  const Vec column_1b = hn::Add(hn::Add(mul_32(x1, c.factor[0]), c.offset_1), hn::And(column_1a, c.low_32));
  const Vec carry = hn::Add(hn::ShiftRight<32>(column_1a), hn::ShiftRight<32>(column_1b));
  // 2. The upper 64 bits; of the topmost column only the lower half counts.
  const Vec column_2 = hn::Add(hn::Add(mul_32(x1, c.factor[1]), mul_32(low, c.factor[2])), mul_32(high, c.factor[0]));
  const Vec column_3a = hn::Add(mul_32(low, c.factor[3]), mul_32(x1, c.factor[2]));
  const Vec column_3b = hn::Add(mul_32(high, c.factor[1]), mul_32(x3, c.factor[0]));
  const Vec column_3 = hn::ShiftLeft<32>(hn::Add(column_3a, column_3b));
  high = hn::Add(hn::Add(column_2, hn::Add(carry, c.offset_high)), column_3);
  low = hn::BitCast(d, hn::OddEven(hn::BitCast(U32(), hn::ShiftLeft<32>(column_1b)), hn::BitCast(U32(), column_0)));
}

// Pcg64::output
HWY_INLINE Vec output(Vec high, Vec low) {
  const U64 d;
  const Vec folded = hn::Xor(high, low);
  const Vec right = hn::ShiftRight<58>(high);
  const Vec left = hn::And(hn::Sub(hn::Zero(d), right), hn::Set(d, 63));
  return hn::Or(hn::Shr(folded, right), hn::Shl(folded, left));
}

void generate_words(std::uint64_t* HWY_RESTRICT low, std::uint64_t* HWY_RESTRICT high, const Pcg64Stride& stride,
                    std::uint64_t* HWY_RESTRICT out, Index words) {
  constexpr Index vectors = 3;
  constexpr Index scalars = RawWords::lanes - 8 * vectors;
  const U64 d;
  const Constants constants = broadcast(stride);
  const Pcg64Stride by = stride;
  Vec low_of[vectors];
  Vec high_of[vectors];
  uint128 state[scalars];
  for (Index k = 0; k < vectors; ++k) low_of[k] = hn::Load(d, low + 8 * k);
  for (Index k = 0; k < vectors; ++k) high_of[k] = hn::Load(d, high + 8 * k);
  load_states(low + 8 * vectors, high + 8 * vectors, state);
  for (Index i = 0; i < words; i += RawWords::lanes) {
#pragma GCC unroll 3
    for (Index k = 0; k < vectors; ++k) {
      hn::Store(output(high_of[k], low_of[k]), d, out + i + 8 * k);
      step(high_of[k], low_of[k], constants);
    }
    step_states(by, state, out + i + 8 * vectors);
  }
  for (Index k = 0; k < vectors; ++k) hn::Store(low_of[k], d, low + 8 * k);
  for (Index k = 0; k < vectors; ++k) hn::Store(high_of[k], d, high + 8 * k);
  store_states(state, low + 8 * vectors, high + 8 * vectors);
}

#else

// Four lanes at a time, in registers, run through the whole block: their 12 multiplications take longer than one's latency.
void generate_words(std::uint64_t* HWY_RESTRICT low, std::uint64_t* HWY_RESTRICT high, const Pcg64Stride& stride,
                    std::uint64_t* HWY_RESTRICT out, Index words) {
  const Pcg64Stride by = stride;
  uint128 state[4];
  for (Index first = 0; first < RawWords::lanes; first += 4) {
    load_states(low + first, high + first, state);
    for (Index i = first; i < words; i += RawWords::lanes) step_states(by, state, out + i);
    store_states(state, low + first, high + first);
  }
}

#endif  // HWY_CAP_GE512

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {

HWY_EXPORT(generate_words);

RawWords::RawWords(const Pcg64& bits) {
  // Of a generator whose increment is 1; the offset is proportional to the increment.
  static constexpr Pcg64Stride unit = pcg64_stride(1, lanes);
  stride_ = {unit.factor, unit.offset * bits.increment()};
  Pcg64 lane = bits;
  for (std::size_t i = 0; i < lanes; ++i) {
    lane.next();
    low_[i] = static_cast<std::uint64_t>(lane.state());
    high_[i] = static_cast<std::uint64_t>(lane.state() >> 64);
  }
}

void RawWords::generate(std::uint64_t* out, Index words) {
  HWY_DYNAMIC_DISPATCH(generate_words)(low_.data(), high_.data(), stride_, out, words);
}

}  // namespace attn
#endif  // HWY_ONCE
