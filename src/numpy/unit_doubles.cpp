// See unit_doubles.h.
#include "numpy/unit_doubles.h"

#include <algorithm>
#include <array>

#include "numpy/raw_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numpy/unit_doubles.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `count` is a multiple of RawWords::lanes, which every vector's lanes divide.
void to_unit_doubles(const std::uint64_t* HWY_RESTRICT words, double* HWY_RESTRICT out, Index count) {
  const hn::CappedTag<double, RawWords::lanes> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const auto scale = hn::Set(d, 0x1p-53);
  for (Index i = 0; i < count; i += static_cast<Index>(hn::Lanes(d))) {
    const auto upper = hn::BitCast(di, hn::ShiftRight<11>(hn::Load(du, words + i)));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, upper), scale), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {

HWY_EXPORT(to_unit_doubles);

void fill_unit_doubles(const Pcg64& bits, std::span<double> out) {
  // Words that stay in the L1 cache until they are converted.
  constexpr Index block_words = 1024;
  alignas(cache_line_bytes) std::array<std::uint64_t, block_words> words;
  RawWords raw(bits);
  while (!out.empty()) {
    const Index count = std::min(block_words, static_cast<Index>(out.size()));
    const Index whole = count / RawWords::lanes * RawWords::lanes;
    raw.generate(words.data(), whole < count ? whole + RawWords::lanes : whole);
    HWY_DYNAMIC_DISPATCH(to_unit_doubles)(words.data(), out.data(), whole);
    std::array<double, RawWords::lanes> rest;
    if (whole < count) {
      HWY_DYNAMIC_DISPATCH(to_unit_doubles)(words.data() + whole, rest.data(), RawWords::lanes);
      std::copy_n(rest.begin(), count - whole, out.begin() + whole);
    }
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace attn
#endif  // HWY_ONCE
