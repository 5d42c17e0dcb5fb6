#include "transformer/kv_cache.h"

#include <fmt/format.h>

namespace attn {

template <class T>
void KvCache<T>::truncate(Index length) {
  if (length < 0 || length > length_) throw UsageError(fmt::format("cache: length: expected 0 to {}, found {}", length_, length));
  length_ = length;
}

template <class T>
Index KvCache<T>::checked_next() const {
  if (length_ == capacity()) throw UsageError(fmt::format("cache: room: expected more than {} tokens, found none", length_));
  return length_;
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace attn
