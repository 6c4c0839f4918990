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

/// 1 where a program links the library's compiled part, the CMake target Conduit::compiled: then headers only declare what
/// the .ipp files beside them define. 0, the default: everything is in the headers. The same in a whole program.
#ifndef UIT_COMPILED
#define UIT_COMPILED 0
#endif
/// Stands before a definition in an .ipp file.
#if UIT_COMPILED
#define UIT_DEFINE
#else
#define UIT_DEFINE inline
#endif

namespace uit {

/// Bytes that two cores hand to each other as one. A constant rather than
/// std::hardware_destructive_interference_size, which differs between compilers of one program.
inline constexpr std::size_t cache_line = 64;

}  // namespace uit
