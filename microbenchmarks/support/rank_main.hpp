#pragma once

#include <concepts>
#include <cstdio>

#include <uit/app/session.hpp>
#include <uit/link/world.hpp>

#include "program.hpp"
#include "ranks.hpp"

namespace bench {

/// The main function of a benchmark between two ranks: calls measure(program, ranks, world) on both.
template <std::invocable<Program&, Ranks&, const uit::World&> Measure>
int MainOfTwoRanks(int argc, char** argv, Measure&& measure) {
  uit::mpi::Session session{argc, argv};
  Ranks ranks;
  if (ranks.Size() != 2) {
    if (ranks.IsLead()) std::fprintf(stderr, "start it with two ranks\n");
    return 2;
  }
  Program program{argc, argv, MpiName(), ranks.IsLead()};
  measure(program, ranks, session.World());
  return program.Finish();
}

}  // namespace bench
