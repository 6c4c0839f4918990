#pragma once

#include <cstddef>
#include <string>

#include <uit/app/application_hooks.hpp>
#include <uit/team/team.hpp>

namespace uit {

/// Prints on which CPU each thread of this process stays, as one line on stderr, such as
/// `conduit: binding: rank 1: thread 0 on CPU 4, thread 1 on CPU 6`. Prints nothing if the team's threads are not pinned.
/// Not collective.
inline void PrintBinding(const Team& team) {
  if (team.Cpus().empty()) return;
  std::string words = "rank " + std::to_string(team.Rank()) + ":";
  for (std::size_t thread = 0; thread < team.Cpus().size(); ++thread)
    words += (thread == 0 ? " thread " : ", thread ") + std::to_string(thread) + " on CPU " + std::to_string(team.Cpus()[thread]);
  PrintLine("binding", words);
}

}  // namespace uit
