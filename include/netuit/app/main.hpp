#pragma once

#include <concepts>
#include <utility>

#include <netuit/app/guarded_main.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// A whole program on a team of threads and processes: as GuardedMain, with a `body(team)` that returns the exit code.
///
///     int main(int argc, char** argv) {
///       return netuit::Main(argc, argv, {.threads = 2}, [](uit::Team& team) { …; return report.ExitCode(); });
///     }
template <std::invocable<uit::Team&> F>
int Main(int argc, char** argv, const uit::TeamOptions& options, F&& body) {
  return GuardedMain(argc, argv, [&](const uit::World& world) {
    uit::Team team{world, options};
    return body(team);
  });
}

}  // namespace netuit
