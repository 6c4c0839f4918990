#pragma once

/// Catch2 2.13 and 3.x under one include. Compile with UIT_CATCH_MAJOR (the build sets it).
///
/// Assertions are not thread-safe: worker threads report, the main thread asserts.

#if UIT_CATCH_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;  // 2.13 brings it to the global namespace
#else
#include <catch2/catch.hpp>
#endif
