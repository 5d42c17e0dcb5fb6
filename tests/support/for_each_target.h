// Runs a test's body once per instruction set that this machine has.
#pragma once

#include <string>

#include "catch.h"
#include "machine/isa_targets.h"

namespace attn {

// Forces each available target in turn, calls body() or body(name), and goes back to the best one, whatever body throws.
template <class Body>
void for_each_target(Body body) {
  struct Restore {
    ~Restore() { unforce_target(); }
  } restore;
  for (const std::string& name : available_targets()) {
    force_target(name);
    INFO("target " << name);
    if constexpr (requires { body(name); }) {
      body(name);
    } else {
      body();
    }
  }
}

}  // namespace attn
