#pragma once

#include <cstdio>
#include <string>

/// Skips tests that cannot show anything on this machine, which Catch2 2.13 does not support.
namespace uit::testing {

/// The exit code of a test program in which no test failed and one was skipped: the value of CTest's SKIP_RETURN_CODE.
inline constexpr int skipped_code = 77;

namespace detail {
inline bool is_anything_skipped = false;
}  // namespace detail

/// Returns whether any test case has called Skip.
inline bool IsAnythingSkipped() { return detail::is_anything_skipped; }

/// Says why a test case shows nothing, in the form that `tools/test` collects. The case must return afterwards. In tests of
/// several processes, call it on all or none. The test needs the CTest property SKIP_RETURN_CODE 77; otherwise it counts as
/// failed.
inline void Skip(const std::string& reason) {
  detail::is_anything_skipped = true;
  std::printf("SKIPPED: %s\n", reason.c_str());
  std::fflush(stdout);
}

}  // namespace uit::testing
