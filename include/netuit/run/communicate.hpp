#pragma once

#include <exception>
#include <utility>

#include <netuit/run/team.hpp>

namespace netuit::detail {

/// Calls a function that communicates with other workers, unless the run is broken. If it throws, the run ends, but not the program.
template <typename G>
void Communicate(Team& team, G&& talk) {
  if (team.IsBroken()) return;
  try {
    std::forward<G>(talk)();
  } catch (const std::exception& trouble) {
    team.Break(trouble.what());
  }
}

}  // namespace netuit::detail
