#pragma once

#if __cplusplus < 202002L
#error "Conduit needs C++20: compile with -std=c++20 (g++ 11 or newer, clang 16 or newer)"
#endif

#include <cstddef>

/// The library's version, for messages and the opening handshake.
#define UIT_VERSION_MAJOR 0
#define UIT_VERSION_MINOR 2
#define UIT_VERSION_PATCH 0
#define UIT_VERSION "0.2.0"

/// Inlines a function at every optimisation level: for the few functions that make up a put or a step.
#if defined(__GNUC__) || defined(__clang__)
#define UIT_INLINE [[gnu::always_inline]] inline
#define UIT_NOINLINE [[gnu::noinline]]
#else
#define UIT_INLINE inline
#define UIT_NOINLINE
#endif

/// 1 if the program links the library's compiled part, the CMake target netuit::compiled or netuit::uit_compiled: headers then only
/// declare, and the .ipp files beside them define. 0, the default: everything is in the headers. Must be the same in the whole program.
#ifndef UIT_COMPILED
#define UIT_COMPILED 0
#endif
/// Precedes a definition in an .ipp file.
#if UIT_COMPILED
#define UIT_DEFINE
#else
#define UIT_DEFINE inline
#endif

/// 1 if the program links zlib, as those of the CMake target netuit::netuit do where there is one: LoadGraph then reads files
/// that gzip has compressed. Must be the same in the whole program.
#ifndef UIT_WITH_ZLIB
#define UIT_WITH_ZLIB 0
#endif

namespace uit {

/// The number of bytes that cores exchange as one unit. A constant, because std::hardware_destructive_interference_size
/// differs between compilers of one program.
inline constexpr std::size_t cache_line = 64;

}  // namespace uit
