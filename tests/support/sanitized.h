// Whether the tests are built with sanitizers: checks of statistics and of many like cases then take a part of them, since the sanitizers
// look for other faults, which show in a few cases as well as in hundreds.
#pragma once

#ifdef ATTN_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
