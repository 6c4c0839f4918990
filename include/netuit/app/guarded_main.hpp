#pragma once

#include <concepts>
#include <functional>

#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

namespace detail {

/// GuardedMain for any body.
int RunGuarded(int argc, char** argv, const std::function<int(const uit::World&)>& body);

}  // namespace detail

/// A whole program: starts MPI, if built with it, calls `body` with the world of all processes, and returns the exit code of
/// `body`. An exception of `body` becomes one line on stderr and an exit code: 2 for invalid input, 3 for a lost process, 5 for
/// output that cannot be written, 1 for any other. An error while resources are released is reported alike, with code 1.
/// If every process throws because one failed (uit::FailedElsewhere), only that one prints, and all end with its code. If only one
/// process throws, it ends the others two seconds later. A program that is built without MPI, and of which mpirun has started several
/// processes, ends with code 2.
///
///     int main(int argc, char** argv) {
///       return netuit::GuardedMain(argc, argv, [&](const uit::World& world) { …; return report.ExitCode(); });
///     }
template <std::invocable<const uit::World&> F>
int GuardedMain(int argc, char** argv, F&& body) {
  return detail::RunGuarded(argc, argv, [&](const uit::World& world) { return static_cast<int>(body(world)); });
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/app/guarded_main.ipp>
#endif
