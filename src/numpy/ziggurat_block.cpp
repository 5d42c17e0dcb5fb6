// See ziggurat_block.h.
#include "numpy/ziggurat_block.h"

#include <algorithm>
#include <bit>

#include "numpy/ziggurat.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numpy/ziggurat_block.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef ATTN_NUMPY_ZIGGURAT_BLOCK
#define ATTN_NUMPY_ZIGGURAT_BLOCK
namespace attn {
namespace {

// wi[layer] and a coarse ki[layer] in one word, so that one gather does. All wi lie in [2^-55, 2^-50), so the upper nine bits of their
// exponents are the same; in their place stand the upper nine of ki's 52 bits.
constexpr std::uint64_t wi_bits = (std::uint64_t{1} << 55) - 1;
constexpr std::uint64_t wi_exponent = std::bit_cast<std::uint64_t>(0x1p-55) & ~wi_bits;

struct PackedTable {
  alignas(cache_line_bytes) std::array<std::uint64_t, 256> words;

  PackedTable() {
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = (std::bit_cast<std::uint64_t>(ziggurat_wi[i]) & wi_bits) | (ziggurat_ki[i] >> 43 << 55);
    }
  }
};

}  // namespace
}  // namespace attn
#endif

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::CappedTag<double, 8>;
using U64 = hn::RebindToUnsigned<F64>;
using I64 = hn::RebindToSigned<F64>;

// Candidates of one vector; returns a bit per lane, set where accepted.
HWY_INLINE std::uint64_t candidates_of(const std::uint64_t* HWY_RESTRICT raw, const std::uint64_t* HWY_RESTRICT table,
                                       double* HWY_RESTRICT candidates) {
  const F64 d;
  const U64 du;
  const I64 di;
  const auto low_55 = hn::Set(du, wi_bits);
  const auto word = hn::Load(du, raw);
  const auto entry = hn::GatherIndex(du, table, hn::BitCast(di, hn::And(word, hn::Set(du, 255))));
  const auto magnitude = hn::And(hn::ShiftRight<9>(word), hn::Set(du, ziggurat_magnitude_mask));
  const auto wi = hn::BitCast(d, hn::Or(hn::And(entry, low_55), hn::Set(du, wi_exponent)));
  const auto distance = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), wi);
  const auto sign = hn::And(hn::ShiftLeft<55>(word), hn::Set(du, std::uint64_t{1} << 63));
  hn::Store(hn::BitCast(d, hn::Or(hn::BitCast(du, distance), sign)), d, candidates);
  // word << 3 begins with the magnitude: less than the entry's nine bits whatever follows.
  std::uint8_t accepted = 0;
  hn::StoreMaskBits(du, hn::Lt(hn::Or(hn::ShiftLeft<3>(word), low_55), entry), &accepted);
  return accepted;
}

Index find_candidates_kernel(const std::uint64_t* HWY_RESTRICT raw, Index words, const std::uint64_t* HWY_RESTRICT table,
                             double* HWY_RESTRICT candidates, std::uint32_t* HWY_RESTRICT refused) {
  constexpr Index lanes = hn::MaxLanes(F64());
  Index count = 0;
  for (Index i = 0; i < words; i += 64) {
    std::uint64_t accepted = 0;
    for (Index j = 0; j < 64; j += lanes) accepted |= candidates_of(raw + i + j, table, candidates + i + j) << j;
    // Of 64 words hardly ever more than four are refused, so four are written whether there are any or not: no branch to mispredict.
    std::uint64_t bits = ~accepted;
    const Index found = std::popcount(bits);
    for (Index k = 0; k < 4; ++k, bits &= bits - 1) refused[count + k] = static_cast<std::uint32_t>(i + std::countr_zero(bits));
    for (Index k = 4; k < found; ++k, bits &= bits - 1) refused[count + k] = static_cast<std::uint32_t>(i + std::countr_zero(bits));
    count += found;
  }
  return count;
}

void write_normals_kernel(const double* HWY_RESTRICT candidates, Index place, std::span<const LongDraw> draws, double* HWY_RESTRICT out,
                          Index count) {
  const F64 d;
  constexpr Index lanes = hn::MaxLanes(F64());
  double* const end = out + count;
  const auto copy_run = [&](Index next) HWY_ATTR {
    const double* from = candidates + place;
    const Index run = std::min(next - place, static_cast<Index>(end - out));
    // Whole vectors, as long as what they write too much will be overwritten.
    Index i = 0;
    for (; i < run && out + i + lanes <= end; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, out + i);
    for (; i < run; ++i) out[i] = from[i];
    out += run;
  };
  for (const LongDraw& draw : draws) {
    copy_run(draw.begin + draw.made);
    place = draw.end;
  }
  copy_run(place + count);
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {

HWY_EXPORT(find_candidates_kernel);
HWY_EXPORT(write_normals_kernel);

Index find_candidates(const std::uint64_t* raw, Index words, double* candidates, std::uint32_t* refused) {
  static const PackedTable table;
  return HWY_DYNAMIC_DISPATCH(find_candidates_kernel)(raw, words, table.words.data(), candidates, refused);
}

void write_normals(const double* candidates, Index place, std::span<const LongDraw> draws, double* out, Index count) {
  HWY_DYNAMIC_DISPATCH(write_normals_kernel)(candidates, place, draws, out, count);
}

}  // namespace attn
#endif  // HWY_ONCE
