#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <netuit/run/run_options.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>

namespace netuit {

/// The number of seconds in the environment variable `name`, or `fallback` if there is none. Throws uit::InputError for
/// what is none.
inline std::chrono::duration<double> SecondsFromEnvironment(const char* name, std::chrono::duration<double> fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(seconds) || seconds < 0)
    throw uit::InputError(std::string(name) + "=" + text + ": not a number of seconds");
  return std::chrono::duration<double>{seconds};
}

namespace detail {

/// What a worker's update takes on a simulated host of nominal speed: the time in UIT_SIMULATED_UPDATE_SECONDS, and for
/// each node that in UIT_SIMULATED_NODE_SECONDS and RunOptions::simulated_node_cost. A real update takes the time that
/// it takes, and this does nothing.
class SimulatedCost {
 public:
  /// Throws uit::InputError if the environment says no times.
  explicit SimulatedCost(const RunOptions& options) {
    if constexpr (uit::is_simulated) {
      update_ = SecondsFromEnvironment("UIT_SIMULATED_UPDATE_SECONDS", std::chrono::microseconds{1});
      node_ = SecondsFromEnvironment("UIT_SIMULATED_NODE_SECONDS", std::chrono::nanoseconds{10}) +
              options.simulated_node_cost;
    }
  }
  /// Lets the time of an update of so many nodes pass.
  void Charge([[maybe_unused]] std::size_t num_nodes) const {
    if constexpr (uit::is_simulated) uit::Compute(update_ + static_cast<double>(num_nodes) * node_);
  }

 private:
  std::chrono::duration<double> update_{0};
  std::chrono::duration<double> node_{0};
};

}  // namespace detail
}  // namespace netuit
