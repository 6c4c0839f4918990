#pragma once

#include <concepts>

#include <netuit/app/guarded_main.hpp>
#include <uit/app/print_binding.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

namespace netuit {

/// A whole program on a team of threads and processes: as GuardedMain, with a `body(team)` that returns the exit code.
/// If the threads are pinned, each process prints its binding first.
///
///     int main(int argc, char** argv) {
///       return netuit::Main(argc, argv, {.threads = 2}, [](uit::Team& team) { …; return report.ExitCode(); });
///     }
template <std::invocable<uit::Team&> F>
int Main(int argc, char** argv, const uit::TeamOptions& options, F&& body) {
  return GuardedMain(argc, argv, [&](const uit::World& world) {
    uit::Team team{world, options};
    uit::PrintBinding(team);
    return body(team);
  });
}

}  // namespace netuit
