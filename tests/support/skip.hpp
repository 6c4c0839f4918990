#pragma once

#include <cstdio>
#include <string>

/// Tests that cannot tell anything here, which Catch2 2.13 has no word for.
namespace uit::testing {

/// What a test program ends with if nothing failed and something was skipped: the value for CTest's SKIP_RETURN_CODE.
inline constexpr int skipped_code = 77;

namespace detail {
inline bool is_anything_skipped = false;
}  // namespace detail

/// Whether any test case has called Skip.
inline bool IsAnythingSkipped() { return detail::is_anything_skipped; }

/// Says why a test case tells nothing, in the words that `tools/test` collects; the case returns after it. In tests of several
/// processes on all of them or none. The test wants the CTest property SKIP_RETURN_CODE 77, else it counts as failed.
inline void Skip(const std::string& reason) {
  detail::is_anything_skipped = true;
  std::printf("SKIPPED: %s\n", reason.c_str());
  std::fflush(stdout);
}

}  // namespace uit::testing
