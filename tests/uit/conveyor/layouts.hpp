#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/team/members.hpp"

namespace uit::testing {

/// The most threads of a process. The time that a test takes grows with the square of the number of members: with 4 processes, 3
/// threads are for the night.
inline std::uint32_t MostThreads() {
  return MpiTestWorld().Size() < 4 || IsNightly() ? 3 : 2;
}

/// Runs `work` on teams of 1, 2 and 3 threads per process; see MostThreads.
inline void ForEachLayout(const std::function<void(Member&, Checks&)>& work) {
  for (std::uint32_t threads = 1; threads <= MostThreads(); ++threads) {
    Checks checks;
    Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) { work(me, checks); });
  }
}

/// The same with conveyors in which members send to each other directly, and with two hops on teams of 1 thread and of the most threads
/// per process: the last argument is for the option `two_hops_above`.
inline void ForEachRoute(const std::function<void(Member&, Checks&, std::size_t)>& work) {
  ForEachLayout([&](Member& me, Checks& checks) { work(me, checks, ConveyorOptions{}.two_hops_above); });
  for (const std::uint32_t threads : {1U, MostThreads()}) {
    CAPTURE("two hops");
    Checks checks;
    Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) { work(me, checks, 0); });
  }
}

/// Returns what a run throws on this process.
inline std::string Failure(const Team& team, const std::function<void(Member&)>& work) {
  return WordsThrownBy([&] { team.Run(work); });
}

/// Checks that a run throws on this process: a text that contains `words`, or that another process failed.
inline void CheckRefused(const Team& team, const std::string& words, const std::function<void(Member&)>& work) {
  const std::string failure = Failure(team, work);
  INFO(failure);
  CHECK((failure.find(words) != std::string::npos || failure.ends_with("failed")));
}

}  // namespace uit::testing
