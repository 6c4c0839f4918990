#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/binding.hpp>
#include <uit/team/team.hpp>
#include <uit/team/thread_pool.hpp>

namespace uit {

UIT_DEFINE Team::Team(World world, const TeamOptions& options) : state_(std::make_shared<State>(std::move(world), options)) {
  if (options.threads == 0) throw InputError("a team needs at least one thread in each process");
  if (options.pins_threads && !is_simulated) state_->cpus = detail::AgreeOnCpus(GetWorld(), options.threads);
}

UIT_DEFINE ThreadPool& Team::Threads() const {
  if (!state_->threads) {
    const std::vector<std::size_t> here = GetWorld().HostRanks();
    const auto position = static_cast<std::size_t>(std::ranges::find(here, Rank()) - here.begin());
    state_->threads = std::make_unique<ThreadPool>(NumThreads(), position == here.size() ? 0 : position * NumThreads(), Cpus());
  }
  return *state_->threads;
}

}  // namespace uit
