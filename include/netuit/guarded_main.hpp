#pragma once

#include <concepts>
#include <cstdio>
#include <exception>
#include <utility>

#include <netuit/root.hpp>

namespace netuit {

/// Runs a program's body and turns what it throws into one line on stderr and an exit code: 2 for input that cannot
/// be, 5 for output that cannot be written, 1 for all else. Where every process throws for rank 0's sake, only rank 0
/// prints, and all end with its code.
///
///     int main(int argc, char** argv) {
///       return netuit::GuardedMain([&] { …; return report.ExitCode(); });
///     }
template <std::invocable F>
int GuardedMain(F&& body) {
  try {
    return static_cast<int>(std::forward<F>(body)());
  } catch (const RootFailed& failure) {
    return failure.ExitCode();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "conduit: error: %s\n", error.what());
    return ExitCodeOf(std::current_exception());
  }
}

}  // namespace netuit
