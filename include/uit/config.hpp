#pragma once

#include <cstddef>

/// The version of this library, for messages and the opening handshake.
#define UIT_VERSION_MAJOR 0
#define UIT_VERSION_MINOR 1
#define UIT_VERSION_PATCH 0
#define UIT_VERSION "0.1.0"

/// Inlined at every optimisation level: the few functions that a put or a step consists of.
#if defined(__GNUC__) || defined(__clang__)
#define UIT_INLINE [[gnu::always_inline]] inline
#define UIT_NOINLINE [[gnu::noinline]]
#else
#define UIT_INLINE inline
#define UIT_NOINLINE
#endif

namespace uit {

/// Bytes that two cores hand to each other as one. A constant rather than
/// std::hardware_destructive_interference_size, which differs between compilers of one program.
inline constexpr std::size_t cache_line = 64;

}  // namespace uit
