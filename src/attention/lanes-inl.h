// Vectors that are only partly there: the last ones of a row.
//
// No include guard: Highway includes this once per target (the lines below are its idiom).
#if defined(ATTN_ATTENTION_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_ATTENTION_LANES_INL_H_
#undef ATTN_ATTENTION_LANES_INL_H_
#else
#define ATTN_ATTENTION_LANES_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "matrix/matrix.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The first `count` elements at `from`, `fill` in the other lanes; nothing behind them is read.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* from, Index count, hn::TFromD<D> fill) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(hn::Set(d, fill), d, lanes);
  std::copy_n(from, count, lanes);
  return hn::Load(d, lanes);
}

// Writes the first `count` lanes, all of them or fewer; nothing behind them is written.
template <class D, class V>
HWY_INLINE void store_first(D d, V v, hn::TFromD<D>* to, Index count) {
  if (count == static_cast<Index>(hn::MaxLanes(D()))) return hn::StoreU(v, d, to);
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::copy_n(lanes, count, to);
}

// Calls body(vector of `from`, its first element's index, its number of elements) over [0, n), with `fill` behind the end.
template <class D, class Body>
HWY_INLINE void for_each_vector(D d, const hn::TFromD<D>* from, Index n, hn::TFromD<D> fill, Body&& body) {
  constexpr Index step = static_cast<Index>(hn::MaxLanes(D()));
  Index j = 0;
  for (; j + step <= n; j += step) body(hn::LoadU(d, from + j), j, step);
  if (j < n) body(load_first(d, from + j, n - j, fill), j, n - j);
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#endif
