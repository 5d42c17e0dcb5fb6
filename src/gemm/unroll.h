// ATTN_UNROLL before a loop of constant trip count unrolls it fully: an array of vectors stays in registers only if every index into it
// is a constant.
//
// ATTN_UNROLL_8 before any loop takes eight rounds to one jump. (A build with sanitizers is spared the time that compiling this takes.)
#pragma once

#if defined(__clang__)
#define ATTN_UNROLL _Pragma("clang loop unroll(full)")
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATTN_UNROLL_8
#else
#define ATTN_UNROLL_8 _Pragma("clang loop unroll_count(8)")
#endif
#elif defined(__GNUC__)
#define ATTN_UNROLL _Pragma("GCC unroll 32")
#define ATTN_UNROLL_8 _Pragma("GCC unroll 8")
#else
#define ATTN_UNROLL
#define ATTN_UNROLL_8
#endif
