#pragma once

#ifndef __has_feature
#define __has_feature(feature) 0  // g++ defines macros instead
#endif

namespace uit::testing {

/// True under a sanitizer: everything takes ten times as long, so tests do a tenth of the work.
inline constexpr bool is_sanitized =
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    true;
#else
    false;
#endif

/// False in a build without optimisation.
inline constexpr bool is_optimized =
#if defined(__OPTIMIZE__)
    true;
#else
    false;
#endif

/// Whether everything takes several times as long as in a release build, so that tests do part of the work.
inline constexpr bool is_slow_build = is_sanitized || !is_optimized;

}  // namespace uit::testing
