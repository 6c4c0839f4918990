#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <netuit/run/run.hpp>
#include <uit/support/clock.hpp>

#include "microbenchmarks/support/contest.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace bench {

/// The largest of a value that each rank gives. Collective.
inline double Largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

/// An iteration that is written by hand over MPI: each rank makes the same number of updates.
template <typename H>
concept ByHand = requires(H& by_hand) { by_hand.Update(); };

/// Returns the time of an update in ns: that of the rank that takes longer. At the end calls Settle(), if there is one, which takes
/// in the messages that are still under way. Collective.
template <ByHand H>
double TimeOf(H& by_hand, std::uint64_t num_updates) {
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 0; i < num_updates; ++i) by_hand.Update();
  const std::chrono::duration<double, std::nano> elapsed = uit::Now() - start;
  if constexpr (requires { by_hand.Settle(); }) by_hand.Settle();
  return Largest(elapsed.count() / static_cast<double>(num_updates));
}

/// Returns the time of an update of this process's first worker in a run, in ns.
inline double TimeOfUpdate(const netuit::RunReport& report) {
  const netuit::WorkerReport& mine = report.workers.front();
  return std::chrono::duration<double, std::nano>(mine.elapsed).count() / static_cast<double>(mine.num_updates);
}

/// Ends the program unless the sums of all ways are positive and the same, but for rounding.
inline void CheckSums(std::initializer_list<double> sums) {
  const double one = *sums.begin();
  const auto differs = [one](double sum) { return !(std::abs(sum - one) <= 1e-12 * one); };
  if (one > 0 && std::ranges::none_of(sums, differs)) return;
  for (const double sum : sums) std::fprintf(stderr, "the sums differ: %.17g\n", sum);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// A way by hand. `time` returns the time of an update in ns; it is collective.
struct Way {
  std::string name;
  std::function<double(std::uint64_t num_updates)> time;
};
template <ByHand H>
Way WayOf(std::string name, const std::shared_ptr<H>& by_hand) {
  return {std::move(name), [by_hand](std::uint64_t num_updates) { return TimeOf(*by_hand, num_updates); }};
}

/// Ways of one kind by hand, of which the fastest counts, and the least rate of the mesh over its own.
struct Rival {
  std::string over;  ///< as the verdict calls it
  double at_least;
  std::vector<Way> ways;
};

/// Measures ways by hand and a mesh in mode 5. `on_mesh->Time(n)` returns the time of an update of this process in ns, in a run of n.
/// Collective.
template <typename M>
void CompareWithMesh(Program& program, Ranks& ranks, const std::string& name, const std::vector<Rival>& rivals,
                     const std::shared_ptr<M>& on_mesh) {
  Contest contest{name, Unit::thousands_per_second};
  const std::string ours = "Mesh, mode 5";
  for (const Rival& rival : rivals) {
    std::vector<std::string> names;
    for (const Way& way : rival.ways) {
      names.push_back(way.name);
      contest.Add(way.name, [time = way.time](const Load& load) { return time(load.count); });
    }
    contest.Say({.name = name + ": over " + rival.over, .ours = ours, .against = names, .at_least = rival.at_least});
  }
  contest.Add(ours, [on_mesh](const Load& load) { return Largest(on_mesh->Time(load.count)); });
  program.Run(contest, ranks);
}

}  // namespace bench
