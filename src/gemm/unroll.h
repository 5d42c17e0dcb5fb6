// ATTN_UNROLL before a loop of constant trip count unrolls it fully: an array of vectors stays in registers only if every index into it
// is a constant.
#pragma once

#if defined(__clang__)
#define ATTN_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define ATTN_UNROLL _Pragma("GCC unroll 32")
#else
#define ATTN_UNROLL
#endif
