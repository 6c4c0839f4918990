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

/// Prints `conduit: KIND: WORDS` to stderr, in one line whatever names of the user's are in it. Any thread.
inline void PrintLine(const char* kind, std::string words) {
  std::ranges::replace_if(words, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  std::fprintf(stderr, "conduit: %s: %s\n", kind, words.c_str());
}

/// The hooks of a program that runs on its own: warnings go to stderr, SIGINT, SIGTERM and SIGUSR1 end a run, and a process
/// that is stuck in a call for a dead one ends with code 3. In a simulation an update takes the time in
/// UIT_SIMULATED_UPDATE_SECONDS, and for each node that in UIT_SIMULATED_NODE_SECONDS. Throws uit::InputError if the
/// environment says no times.
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
  // Simulated processes are all one to the system, and its signals end it.
  hooks.heed_stops = [] { return std::make_unique<SignalWatch>(); };
#endif
  return hooks;
}

}  // namespace uit
