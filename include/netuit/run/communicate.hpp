#pragma once

#include <exception>
#include <utility>

#include <netuit/run/run_control.hpp>

namespace netuit::detail {

/// Calls a function that communicates with other workers, unless the run is broken. If it throws, the run ends, but not the program.
template <typename G>
void Communicate(RunControl& control, G&& talk) {
  if (control.IsBroken()) return;
  try {
    std::forward<G>(talk)();
  } catch (const std::exception& trouble) {
    control.Break(trouble.what());
  }
}

}  // namespace netuit::detail
