#pragma once

#include <concepts>
#include <cstdio>
#include <utility>

#include <uit/app/session.hpp>
#include <uit/link/world.hpp>

#include "program.hpp"
#include "ranks.hpp"

namespace bench {

/// The main function of a benchmark between `num_ranks` ranks: calls measure(program, ranks, world) on all.
template <std::invocable<Program&, Ranks&, const uit::World&> Measure>
int MainOfRanks(int num_ranks, int argc, char** argv, Measure&& measure) {
  uit::mpi::Session session{argc, argv};
  Ranks ranks;
  if (ranks.Size() != num_ranks) {
    if (ranks.IsLead()) std::fprintf(stderr, "start it with %d ranks\n", num_ranks);
    return 2;
  }
  Program program{argc, argv, MpiName(), ranks.IsLead()};
  measure(program, ranks, session.World());
  return program.Finish();
}

/// The same between two ranks.
template <std::invocable<Program&, Ranks&, const uit::World&> Measure>
int MainOfTwoRanks(int argc, char** argv, Measure&& measure) {
  return MainOfRanks(2, argc, argv, std::forward<Measure>(measure));
}

}  // namespace bench
