#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <uit/support/error.hpp>

namespace uit {

/// Tells whether something outside, such as a signal, wants what goes on to end. One thread at a time.
class StopSource {
 public:
  StopSource() = default;
  StopSource(const StopSource&) = delete;
  StopSource& operator=(const StopSource&) = delete;
  virtual ~StopSource() = default;

  /// A number other than 0, such as a signal's, if something has come since the last call. Never waits.
  virtual int Take() = 0;
  /// What comes beyond the source's end is to be passed over, too: results are yet to be written.
  virtual void Keep() = 0;
};

/// What the library asks of the program around it. A program of one's own (netuit::Main, uit::mpi::Session) brings all of it;
/// one that embeds the library need not bring any: the library itself prints nothing, takes up no signal, ends no process, and
/// reads no environment variable.
struct ProcessHooks {
  /// Says one line to whoever watches. Any thread.
  std::function<void(const std::string&)> warn{};
  /// Begins to take up requests to end; they end nothing else while the source lives.
  std::function<std::unique_ptr<StopSource>()> heed_stops{};
  /// A call that waits for other processes has lasted three seconds since one of them ended, and cannot be told to stop. May
  /// end the process; called again every three seconds if it does not. Any thread.
  std::function<void(const PeerLost&)> give_up{};
  /// In a simulation: lets the time pass that an update of so many nodes takes, each `node_cost` more than usual.
  std::function<void(std::size_t num_nodes, std::chrono::duration<double> node_cost)> charge{};
};

}  // namespace uit
