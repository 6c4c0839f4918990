#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/binding.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/team/team.hpp>
#include <uit/team/thread_pool.hpp>

namespace uit {

UIT_DEFINE Team::Team(World world, const TeamOptions& options) : state_(std::make_shared<State>(std::move(world), options)) {
  if (options.threads == 0) throw InputError("a team needs at least one thread in each process");
  if (options.peer_timeout.count() <= 0) throw InputError("peer_timeout must be greater than 0");
  if (options.pins_threads && !is_simulated) state_->cpus = detail::AgreeOnCpus(GetWorld(), options.threads);
}

namespace detail {

/// Warns once if the threads of this process take turns, because it may use fewer cores.
UIT_DEFINE void WarnOfSharedCores(const World& world, std::size_t num_threads) {
  const std::size_t num_usable = NumUsableCores();
  if (is_simulated || num_usable == 0 || num_threads <= num_usable) return;
  const std::string cores = num_usable == 1 ? "one core" : std::to_string(num_usable) + " cores";
  const std::string reason =
      num_usable < NumCores()
          ? ", to which mpirun, taskset or the batch system binds this process; Open MPI's mpirun does not with --bind-to none"
          : ", and the machine has no more";
  world.Process()->WarnOnce(std::to_string(num_threads) + " threads take turns on " + cores + reason);
}

}  // namespace detail

UIT_DEFINE ThreadPool& Team::Threads() const {
  if (!state_->threads) {
    detail::WarnOfSharedCores(GetWorld(), NumThreads());
    const std::vector<std::size_t> here = GetWorld().HostRanks();
    const auto position = static_cast<std::size_t>(std::ranges::find(here, Rank()) - here.begin());
    state_->threads = std::make_unique<ThreadPool>(NumThreads(), position == here.size() ? 0 : position * NumThreads(), Cpus());
  }
  return *state_->threads;
}

}  // namespace uit
