// How much memory code asks for, whether it gets it or not.
#pragma once

#include <cstddef>

namespace attn {

// The largest request to operator new in this program since largest_request_reset().
std::size_t largest_request();
void largest_request_reset();

}  // namespace attn
