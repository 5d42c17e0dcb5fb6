#include "report/fingerprint.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace attn {

struct Fingerprint::State {
  XXH3_state_t xxh3;
};

Fingerprint::Fingerprint() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }

Fingerprint::~Fingerprint() = default;

Fingerprint& Fingerprint::add(const void* data, std::size_t bytes) {
  XXH3_64bits_update(&state_->xxh3, data, bytes);
  return *this;
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", XXH3_64bits_digest(&state_->xxh3)); }

}  // namespace attn
