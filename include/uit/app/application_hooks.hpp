#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include <uit/app/environment.hpp>
#include <uit/app/signal_watch.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/simulation.hpp>

namespace uit {

/// Prints `conduit: KIND: WORDS` to stderr as one line: control characters in `words` become '?'. Any thread.
inline void PrintLine(const char* kind, std::string words) {
  std::ranges::replace_if(words, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  std::fprintf(stderr, "conduit: %s: %s\n", kind, words.c_str());
}

/// The hooks of a stand-alone program. Warnings go to stderr. SIGINT, SIGTERM and SIGUSR1 end a run. If the process is
/// stuck in a call that waits for a dead process, it ends with code 3. In a simulation, an update takes
/// UIT_SIMULATED_UPDATE_SECONDS, plus UIT_SIMULATED_NODE_SECONDS for each node. Throws uit::InputError if these
/// environment variables are not times.
inline ProcessHooks ApplicationHooks() {
  ProcessHooks hooks;
  hooks.warn = [](const std::string& words) { PrintLine("warning", words); };
  hooks.give_up = [](const PeerLost& lost) {
    PrintLine("error", lost.what());
    std::fflush(nullptr);
    _exit(3);
  };
#if UIT_SIMULATED
  const auto update = SecondsFromEnvironment("UIT_SIMULATED_UPDATE_SECONDS", std::chrono::microseconds{1});
  const auto node = SecondsFromEnvironment("UIT_SIMULATED_NODE_SECONDS", std::chrono::nanoseconds{10});
  hooks.charge = [update, node](std::size_t num_nodes, std::chrono::duration<double> node_cost) {
    Compute(update + static_cast<double>(num_nodes) * (node + node_cost));
  };
#else
  // No signals in a simulation: all simulated processes are one system process, and a signal ends it.
  hooks.heed_stops = [] { return std::make_unique<SignalWatch>(); };
#endif
  return hooks;
}

}  // namespace uit
