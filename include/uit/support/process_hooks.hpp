#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <uit/support/error.hpp>

namespace uit {

/// Reports requests from outside, such as signals, to end the run. One thread at a time.
class StopSource {
 public:
  StopSource() = default;
  StopSource(const StopSource&) = delete;
  StopSource& operator=(const StopSource&) = delete;
  virtual ~StopSource() = default;

  /// If a request has come since the last call, returns a number other than 0, such as the signal's number. Never waits.
  virtual int Take() = 0;
  /// Ignores later requests even after this source is destroyed, because results are still to be written.
  virtual void Keep() = 0;
};

/// Callbacks by which the program around the library serves it. Stand-alone programs (netuit::Main, uit::mpi::Session) set
/// all of them. A program that embeds the library may set none: the library itself prints nothing, handles no signal, ends
/// no process, and reads no environment variable.
struct ProcessHooks {
  /// Shows one line of warning to the user. Any thread.
  std::function<void(const std::string&)> warn{};
  /// Starts to collect requests to end the run. While the source lives, a request ends nothing else.
  std::function<std::unique_ptr<StopSource>()> heed_stops{};
  /// Called if a call that waits for other processes has lasted three seconds since one of them ended, and cannot be told
  /// to stop. It may end the process. If it does not, it is called again every three seconds. Any thread.
  std::function<void(const PeerLost&)> give_up{};
  /// In a simulation: lets the time of an update of `num_nodes` nodes pass. Each node takes `node_cost` more than usual.
  std::function<void(std::size_t num_nodes, std::chrono::duration<double> node_cost)> charge{};
};

}  // namespace uit
