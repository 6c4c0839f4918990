#pragma once

#ifndef __has_feature
#define __has_feature(feature) 0  // as with g++, which defines macros instead
#endif

namespace uit::testing {

/// A sanitizer is at work: everything takes ten times as long, and a tenth is enough for it to see.
inline constexpr bool is_sanitized =
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    true;
#else
    false;
#endif

/// Likewise for a build that is not optimised.
inline constexpr bool is_optimized =
#if defined(__OPTIMIZE__)
    true;
#else
    false;
#endif

}  // namespace uit::testing
