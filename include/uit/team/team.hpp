#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// What can be chosen for a team. The same on every process.
struct TeamOptions {
  std::uint32_t threads = 1;  ///< of each process
};

/// The processes that work together, and how many threads each has.
///
///     uit::Team team{session.World(), {.threads = 2}};
///     netuit::Mesh mesh{team, graph};
class Team {
 public:
  /// Of the processes of a world. Throws uit::InputError if there are to be no threads.
  explicit Team(World world = {}, const TeamOptions& options = {}) : world_(std::move(world)), options_(options) {
    if (options.threads == 0) throw InputError("a team has at least one thread in each process");
  }

  /// The processes.
  const World& GetWorld() const { return world_; }
  /// Threads of each process.
  std::uint32_t NumThreads() const { return options_.threads; }
  /// Whether this is the process that loads, places and gathers.
  bool IsRoot() const { return world_.IsRoot(); }
  /// This process's number, from 0.
  std::size_t Rank() const { return world_.Rank(); }
  /// How many processes there are.
  std::size_t NumProcesses() const { return world_.Size(); }

 private:
  World world_;
  TeamOptions options_;
};

}  // namespace uit
