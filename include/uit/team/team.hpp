#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// Options of a team. The same on every process.
struct TeamOptions {
  std::uint32_t threads = 1;  ///< of each process
};

/// The processes that work together, and the number of threads of each.
///
///     uit::Team team{session.World(), {.threads = 2}};
///     netuit::Mesh mesh{team, graph};
class Team {
 public:
  /// A team of the processes of `world`. Throws uit::InputError if the number of threads is 0.
  explicit Team(World world = {}, const TeamOptions& options = {}) : world_(std::move(world)), options_(options) {
    if (options.threads == 0) throw InputError("a team needs at least one thread in each process");
  }

  /// The processes.
  const World& GetWorld() const { return world_; }
  /// Threads of each process.
  std::uint32_t NumThreads() const { return options_.threads; }
  /// True for the process that loads the graph, assigns its nodes, and gathers results: rank 0.
  bool IsRoot() const { return world_.IsRoot(); }
  /// This process's number, from 0.
  std::size_t Rank() const { return world_.Rank(); }
  /// The number of processes.
  std::size_t NumProcesses() const { return world_.Size(); }

 private:
  World world_;
  TeamOptions options_;
};

}  // namespace uit
