#pragma once

#include <concepts>
#include <functional>

#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

namespace detail {

/// GuardedMain, whatever the body is.
int RunGuarded(int argc, char** argv, const std::function<int(const uit::World&)>& body);

}  // namespace detail

/// A whole program: starts MPI, if built with it, calls `body` with all processes of the job, and returns its exit
/// code. What the body throws becomes one line on stderr and an exit code: 2 for input that cannot be, 3 for a process that
/// was lost, 5 for output that cannot be written, 1 for all else; likewise what went wrong while things were given back, with 1. Where every process throws for rank 0's sake, only rank 0 prints, and all
/// end with its code. Where one process alone throws, it ends the others two seconds later.
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
